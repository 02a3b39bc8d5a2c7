// SPDX-License-Identifier: Apache-2.0
//
// The translations of one table into one language: a `.strings` file of pairs in UTF-8 or UTF-16,
// or an XML property list. A binary property list, to which Xcode compiles them, is an error.
//
// The grammar is that of old property lists (https://developer.apple.com/library/archive/
// documentation/Cocoa/Conceptual/LoadingResources/Strings/Strings.html):
//
//   file  = (pair | space | "/* … */" | "// …")*
//   pair  = word ["=" word] ";"
//   word  = quoted text with escapes, or letters, digits and _ $ . : / -

import KeepsakeSettingsBundle

struct StringsFile {
  let entries: [StringsParser.Entry]
  let map: SourceMap

  /// - Throws: `PropertyListError`; its offset counts the bytes after conversion to UTF-8.
  static func parse(
    _ bytes: [UInt8], file: String, limits: PropertyListLimits
  ) throws(PropertyListError) -> StringsFile {
    guard bytes.count <= limits.effectiveBytes else {
      throw .tooLarge(file: file, limit: limits.effectiveBytes)
    }
    var text = bytes
    do throws(Fault) {
      try refuseCompiled(bytes)
      text = try WideText.utf8(bytes) ?? bytes
      let start = text.starts(with: [UInt8].byteOrderMark) ? 3 : 0
      if text[start...].first(where: { !$0.isSpace }) != UInt8(ascii: "<") {
        var parser = StringsParser(text)
        return StringsFile(entries: try parser.entries(from: start), map: SourceMap(text))
      }
    } catch {
      throw PropertyListError(error, file: file, map: SourceMap(text), keyPath: nil)
    }
    return try StringsFile(
      PropertyList.parse(text, file: file, limits: limits, isTranscoded: text != bytes), file: file)
  }

  private init(entries: [StringsParser.Entry], map: SourceMap) {
    self.entries = entries
    self.map = map
  }

  private init(_ list: PropertyList, file: String) throws(PropertyListError) {
    map = list.sourceMap()
    // A value that is not a string is a plural rule, which no title needs.
    entries = (list.root.members ?? []).compactMap { member in
      member.value.string.map {
        StringsParser.Entry(key: member.key, value: $0, offset: Int(member.keyOffset))
      }
    }
  }

  /// Throws if the bytes are recognisably not the source of a `.strings` file.
  private static func refuseCompiled(_ bytes: [UInt8]) throws(Fault) {
    try ForeignFormat.refuseGitLFSPointer(bytes)
    if bytes.matches("bplist", at: 0) {
      throw Fault(
        .binaryFormat, at: 0, "these are compiled strings, a binary property list",
        cure: "convert them with plutil -convert xml1")
    }
  }
}
