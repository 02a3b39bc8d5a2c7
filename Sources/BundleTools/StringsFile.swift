// SPDX-License-Identifier: Apache-2.0
//
// The translations of one table into one language: a `.strings` file of pairs in UTF-8 or UTF-16,
// or a property list, a binary one where Xcode has compiled it.
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
  /// Nil for a binary property list.
  let map: SourceMap?
  /// The root of a property list.
  let root: PropertyListNode?

  /// - Throws: `PropertyListError`; its offset counts the bytes after conversion to UTF-8.
  static func parse(
    _ bytes: [UInt8], file: String, limits: PropertyListLimits
  ) throws(PropertyListError) -> StringsFile {
    guard bytes.count <= limits.effectiveBytes else {
      throw .tooLarge(file: file, limit: limits.effectiveBytes)
    }
    let text = try PropertyList.transcoded(bytes, file: file) ?? bytes
    let start = text.starts(with: [UInt8].byteOrderMark) ? 3 : 0
    if PropertyList.isBinary(bytes)
      || text[start...].first(where: { !$0.isSpace }) == UInt8(ascii: "<")
    {
      return StringsFile(try PropertyList.parse(bytes, file: file, limits: limits))
    }
    do throws(Fault) {
      try ForeignFormat.refuseGitLFSPointer(text)
      var parser = StringsParser(text)
      return StringsFile(entries: try parser.entries(from: start), map: SourceMap(text))
    } catch {
      throw PropertyListError(error, file: file, map: SourceMap(text), keyPath: nil)
    }
  }

  private init(entries: [StringsParser.Entry], map: SourceMap?) {
    self.entries = entries
    self.map = map
    root = nil
  }

  private init(_ list: PropertyList) {
    map = list.sourceMap()
    root = list.root
    // A value that is not a string is a plural rule, which no title needs.
    entries = (list.root.members ?? []).compactMap { member in
      member.value.string.map {
        StringsParser.Entry(key: member.key, value: $0, offset: Int(member.keyOffset))
      }
    }
  }
}
