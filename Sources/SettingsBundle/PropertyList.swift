// SPDX-License-Identifier: Apache-2.0

/// A parsed XML property list.
package struct PropertyList: Sendable {
  package let root: PropertyListNode
  /// The number of values and keys.
  let elements: Int
  private let bytes: [UInt8]

  /// Maps the offsets of the nodes to lines and columns. O(n): create it once.
  package func sourceMap() -> SourceMap { SourceMap(bytes) }

  /// Parses a strict XML property list.
  ///
  /// Stricter than Apple's parsers: nothing follows the root, keys are unique by canonical
  /// equivalence, dates exist, base64 is complete. Like Apple's parsers, and unlike XML, it keeps
  /// CRLF in text. O(n), iterative.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - file: The name for messages.
  ///   - isTranscoded: Whether the bytes were converted to UTF-8, so that any declared encoding is
  ///     accepted.
  /// - Throws: `PropertyListError` for the first problem. An illegal character takes precedence
  ///   over every problem after the XML declaration.
  package static func parse(
    _ bytes: [UInt8], file: String, limits: PropertyListLimits = PropertyListLimits(),
    isTranscoded: Bool = false
  ) throws(PropertyListError) -> PropertyList {
    guard bytes.count <= limits.effectiveBytes else {
      throw .tooLarge(file: file, limit: limits.effectiveBytes)
    }
    var parser = PropertyListParser(bytes, limits: limits, isTranscoded: isTranscoded)
    do throws(Fault) {
      try ForeignFormat.refuse(bytes)
      let root = try parser.document()
      return PropertyList(root: root, elements: parser.elements, bytes: bytes)
    } catch {
      throw PropertyListError(
        error, file: file, map: SourceMap(bytes), keyPath: parser.keyPath)
    }
  }
}
