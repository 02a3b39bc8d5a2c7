// SPDX-License-Identifier: Apache-2.0

/// A parsed property list.
package struct PropertyList: Sendable {
  package let root: PropertyListNode
  /// The number of values and keys.
  let elements: Int
  /// The number of bytes of the file, or of all strings and data of a binary list, if these are
  /// more because objects share them.
  let bytes: Int
  /// The UTF-8 text; nil for a binary list.
  private let text: [UInt8]?

  /// Maps the offsets of the nodes to lines and columns. O(n): create it once.
  ///
  /// - Returns: nil for a binary list, in which only a key path can name a place.
  package func sourceMap() -> SourceMap? { text.map { SourceMap($0) } }

  /// Whether the bytes start like a binary property list.
  package static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.matches("bplist", at: 0) }

  /// Parses a property list: XML in UTF-8, whose attributes, declarations and comments it skips, or
  /// a binary one.
  ///
  /// Stricter than Apple's parsers: nothing follows the root, keys are unique by canonical
  /// equivalence, dates exist, base64 is complete. Like Apple's parsers, and unlike XML, it keeps
  /// CRLF in text. Iterative. O(n); for a binary list O(n log n) in the sizes of file and tree.
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
      try checkFormat(of: bytes)
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

  /// Throws if the first bytes are of another format than XML in UTF-8, so that the error can name
  /// the conversion.
  private static func checkFormat(of bytes: [UInt8]) throws(Fault) {
    guard !isWide(bytes) else {
      throw Fault(
        .unsupportedEncoding, at: 0, "the file is in UTF-16 or UTF-32", cure: "save it as UTF-8")
    }
    let start = bytes.startOfText
    guard let first = bytes[start...].firstIndex(where: { !$0.isSpace }) else {
      throw Fault(
        .empty, at: start, "the file is empty", cure: "write an XML property list into it")
    }
    guard bytes[first] == UInt8(ascii: "<") else {
      throw Fault(
        .notXML, at: first, "this is not XML, which starts with <, nor a binary property list",
        cure: "convert it with plutil -convert xml1")
    }
  }

  /// Whether this is text in UTF-16 or UTF-32, which we do not read, by its byte order mark or by
  /// the zero bytes of a leading ASCII character.
  package static func isWide(_ bytes: [UInt8]) -> Bool {
    let (head, zeros) = (bytes.prefix(4), bytes.prefix(4).map { $0 == 0 })
    return [[0xFF, 0xFE], [0xFE, 0xFF], [0, 0, 0xFE, 0xFF]].contains(where: head.starts)
      || [[false, true], [true, false], [true, true, true, false]].contains(where: zeros.starts)
  }
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

  /// Offsets have 32 bits, and the end of the file needs one too.
  package var effectiveBytes: Int { min(bytes, Int(UInt32.max) - 1) }
  var effectiveDepth: Int { min(depth, 512) }
}
