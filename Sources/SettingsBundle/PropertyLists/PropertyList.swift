// SPDX-License-Identifier: Apache-2.0

/// A parsed property list.
package struct PropertyList: Sendable {
  package let root: PropertyListNode
  /// The number of values and keys.
  let elements: Int
  /// The bytes of the text, or of a binary list; there with those of strings that it shares.
  let bytes: Int
  /// In UTF-8; nil of a binary list.
  private let text: [UInt8]?

  /// Maps the offsets of the nodes to lines and columns. O(n): create it once.
  ///
  /// - Returns: nil for a binary list, where a key path has to tell the place.
  package func sourceMap() -> SourceMap? { text.map { SourceMap($0) } }

  /// Whether the bytes start like a binary property list.
  package static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.matches("bplist", at: 0) }

  /// Parses a property list: XML in UTF-8, whose attributes, declarations and comments it skips, or
  /// a binary one.
  ///
  /// Stricter than Apple's parsers: nothing follows the root, keys are unique by canonical
  /// equivalence, dates exist, base64 is complete. Like Apple's parsers, and unlike XML, it keeps
  /// CRLF in text. Iterative; O(n), of a binary list O(n log n) in the file and the tree.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - file: The name for messages.
  /// - Throws: `PropertyListError` for the first problem. An illegal character takes precedence
  ///   over every problem after the XML declaration.
  package static func parse(
    _ bytes: [UInt8], file: String, limits: PropertyListLimits = PropertyListLimits()
  ) throws(PropertyListError) -> PropertyList {
    guard bytes.count <= limits.effectiveBytes else {
      throw .tooLarge(file: file, limit: limits.effectiveBytes)
    }
    if isBinary(bytes) { return try parse(binary: bytes, file: file, limits: limits) }
    var parser = PropertyListParser(bytes, limits: limits)
    do throws(Fault) {
      try ForeignFormat.refuse(bytes)
      let root = try parser.document()
      return PropertyList(
        root: root, elements: parser.elements, bytes: bytes.count, text: bytes)
    } catch {
      throw PropertyListError(error, file: file, map: SourceMap(bytes), keyPath: parser.keyPath)
    }
  }

  private static func parse(
    binary bytes: [UInt8], file: String, limits: PropertyListLimits
  ) throws(PropertyListError) -> PropertyList {
    var list = BinaryPropertyList(bytes, limits: limits)
    do throws(Fault) {
      let root = try list.document()
      let size = max(bytes.count, list.textBytes)
      return PropertyList(root: root, elements: list.elements, bytes: size, text: nil)
    } catch {
      throw PropertyListError(
        error.code, file: file, keyPath: list.keyPath, "at byte \(error.offset): \(error.what)",
        cure: error.cure)
    }
  }

  /// Whether the bytes start like text in UTF-16 or UTF-32, which no reader of ours takes.
  package static func isWide(_ bytes: [UInt8]) -> Bool { ForeignFormat.isWide(bytes) }
}

/// Limits on the size of a property list, each checked before memory is allocated.
public struct PropertyListLimits: Sendable, Hashable {
  /// The bytes of a file; larger values than 4 GiB - 2 count as that.
  public var bytes = 4 << 20
  /// The nesting depth of arrays and dictionaries; larger values than 512 count as that, because
  /// Swift frees nested arrays recursively.
  public var depth = 64
  /// The elements of a file: every value and every key counts as one.
  public var elements = 100_000
  /// The bytes of one element's text, in a string or a key with references replaced.
  public var textBytes = 1 << 20

  /// The limits above.
  public init() {}
}

extension PropertyListLimits {
  /// Offsets have 32 bits, and the end of the file needs one too.
  package var effectiveBytes: Int { min(bytes, Int(UInt32.max) - 1) }
  var effectiveDepth: Int { min(depth, 512) }
}
