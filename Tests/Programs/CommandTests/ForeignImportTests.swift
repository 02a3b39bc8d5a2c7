// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Files of other formats and encodings that `import` is given.
@Suite struct ForeignImportTests {
  private static let xml =
    "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<plist><dict><key>é</key>¦</dict></plist>"
  static let encodings: [String.Encoding] = [
    .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian,
  ]

  private func write(
    _ text: String, _ encoding: String.Encoding, to file: String, in folder: Folder
  ) throws {
    try #require(text.data(using: encoding)).write(to: folder.url(file))
  }

  @Test(arguments: encodings)
  func xmlInWideCharactersIsReadAndItsFaultsHavePlaces(_ encoding: String.Encoding) throws {
    let folder = try Folder()
    try write(Self.xml.replacing("¦", with: "<true/>"), encoding, to: "p", in: folder)
    try folder.expect("import", "a", "p", prints: "1 imported, 1 changed\n")
    try folder.expect("get", "a", "é", prints: "true\n")
    try write(Self.xml.replacing("¦", with: "<true>"), encoding, to: "p", in: folder)
    let ending = try folder.run(["import", "a", "p"])
    #expect(ending.code == 65 && ending.stderr.hasPrefix("kvsync: p:2:32: "), "\(ending)")
  }

  @Test(arguments: ["<plist>", "<array>", "{a=", "("])
  func deepNestingInUTF16IsAnError(_ open: String) throws {
    let folder = try Folder()
    let depth = Seeds.rounds(300_000, debug: 50_000)
    try write(String(repeating: open, count: depth), .utf16, to: "p", in: folder)
    let ending = try folder.run(["import", "a", "p"])
    #expect(ending.code == 65 && ending.stderr.hasPrefix("kvsync: p:1:"), "\(ending)")
  }

  private static let openStep =
    "this is not XML but probably an OpenStep property list or JSON; "
    + "convert it with plutil -convert xml1"
  private static let json =
    "this is JSON, but not as export writes it; write one JSON object with a key a line"

  /// A text, and what is said of it behind its name.
  static let foreign: [(String, String)] = [
    (
      "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
      "1:1: this is a Git LFS pointer, not the file itself; fetch the file with git lfs pull"
    ),
    ("{ a = b; }\n", "1:1: \(openStep)"), ("\n{\n  \"a b\" = (1);\n}", "2:1: \(openStep)"),
    ("( a, b )", "1:1: \(openStep)"), ("/* x */ \"a\" = \"b\";", "1:1: \(openStep)"),
    ("\"a\" = \"b\";", "1:1: \(openStep)"),
    ("{ /* c */ a = b; }", "1:1: \(openStep)"), ("{ 1 = b; }", "1:1: \(openStep)"),
    (#"{ "a\"b" = 1; }"#, "1:1: \(openStep)"), ("// x\n{ a = b; }", "1:1: \(openStep)"),
    (
      #"{key:"a","type":"integer","value":1}"#,
      "1:2: expected a member name in quotes; write one JSON object a line"
    ),
    ("/home/x", "1:1: this is not a JSON value; write one JSON object a line"),
    ("(oops", "1:1: this is not a JSON value; write one JSON object a line"),
    ("{ \"a\": 1 }\n", "1: \(json)"),
    ("{\n  \"replica\": \"0\",\n  \"stores\": {}\n}", "1: \(json)"),
  ]

  @Test(arguments: foreign)
  func anotherFormatIsNamed(_ text: String, _ complaint: String) throws {
    let folder = try Folder()
    try folder.write(text, to: "p")
    try folder.expect("import", "a", "p", says: "kvsync: p:\(complaint)\n", code: 65)
    #expect(!folder.exists("a"))
  }

  @Test(arguments: encodings)
  func linesInWideCharactersAreNamed(_ encoding: String.Encoding) throws {
    let folder = try Folder()
    try write(#"{"key":"k","type":"integer","value":1}"#, encoding, to: "p", in: folder)
    let name = encoding.description.contains("32") ? "UTF-32" : "UTF-16"
    try folder.expect(
      "import", "a", "p", says: "kvsync: p:1:1: the file is in \(name); save it as UTF-8\n",
      code: 65)
  }

  @Test func whatNoPropertyListMayBeIsNotReadToItsEnd() throws {
    let folder = try Folder()
    for head in ["bplist00", "<plist>"] {
      try folder.write(head, to: "p")
      try folder.shell("truncate", "-s", "8G", "p")
      try folder.expect(
        "import", "a", "p",
        says: "kvsync: p: the file is larger than the limit of 268435456 bytes; "
          + "split it, or raise the limit\n", code: 65)
    }
    // MemoryTests has the same claim; a debug build needs ten seconds for it.
    guard Seeds.rounds(true, debug: false) else { return }
    try folder.shell("sh", "-c", "rm p; truncate -s 8G p")
    try folder.expect(
      "import", "a", "p",
      says: "kvsync: p:1: this is longer than 104857600 bytes; "
        + "keep what is so large in a file of its own\n", code: 65)
  }

  /// Each object names the next one twice: 22 of them mean four million, 40 mean a trillion.
  @Test(arguments: [22, 40])
  func aFewBytesThatMeanAHugeTreeAreRefused(_ depth: UInt8) throws {
    let folder = try Folder()
    var objects: [[UInt8]] = [[0xD1, 1, 2], [0x51, 0x61]]
    for level in 0..<depth { objects.append([0xA2, level + 3, level + 3]) }
    objects.append([0x51, 0x78])
    let body = Array("bplist00".utf8) + objects.joined()
    var offset = 8
    let table = objects.map { object -> UInt8 in
      defer { offset += object.count }
      return UInt8(offset)
    }
    func wide(_ number: Int) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, UInt8(number)] }
    let trailer = [0, 0, 0, 0, 0, 0, 1, 1] + wide(objects.count) + wide(0) + wide(offset)
    try Data(body + table + trailer).write(to: folder.url("p"))
    let ending = try folder.run(["import", "a", "p"])
    #expect(ending.code == 65 && ending.stderr.contains("shared objects"), "\(ending)")
    #expect(!folder.exists("a"))
  }
}
