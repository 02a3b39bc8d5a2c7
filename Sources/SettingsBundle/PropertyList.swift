// SPDX-License-Identifier: Apache-2.0

/// A parsed XML property list.
package struct PropertyList: Sendable {
  package let root: PropertyListNode
  /// How many values and keys there are.
  let elements: Int
  private let bytes: [UInt8]

  /// Lines and columns for the offsets of the nodes. O(n): ask once and keep it.
  package func sourceMap() -> SourceMap { SourceMap(bytes) }

  /// Parses a strict XML property list.
  ///
  /// Stricter than Apple's parsers: nothing follows the root, keys are unique by canonical
  /// equivalence, dates exist, base64 is whole. Line breaks inside text stay as they are, as
  /// Apple's parsers keep them (XML would turn CRLF into LF). O(n); never recursive.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - file: The name for messages.
  ///   - isTranscoded: Whether the file was in another encoding, which it may then declare.
  /// - Throws: `PropertyListError` for the first problem. A byte that is not a character is found
  ///   before any problem behind the XML declaration.
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
