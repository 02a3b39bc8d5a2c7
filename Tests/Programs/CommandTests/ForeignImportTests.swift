// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Files of other formats and encodings that `import` is given.
@Suite struct ForeignImportTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

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
    try write(Self.xml.replacing("¦", with: "<true/>"), encoding, to: "p", in: folder)
    try folder.expect("import", "a", "p", prints: "1 imported, 1 changed\n")
    try folder.expect("get", "a", "é", prints: "true\n")
    try write(Self.xml.replacing("¦", with: "<true>"), encoding, to: "p", in: folder)
    let ending = try folder.run(["import", "a", "p"])
    #expect(ending.code == 65 && ending.stderr.hasPrefix("kvsync: p:2:32: "), "\(ending)")
  }

  @Test(arguments: ["<plist>", "<array>", "{a=", "("])
  func deepNestingInUTF16IsAnError(_ open: String) throws {
    let depth = Seeds.rounds(300_000, debug: 50_000)
    try write(String(repeating: open, count: depth), .utf16, to: "p", in: folder)
    let ending = try folder.run(["import", "a", "p"])
    #expect(ending.code == 65 && ending.stderr.hasPrefix("kvsync: p:1:"), "\(ending)")
  }

  /// A text, and what is said of it behind its name.
  static let foreign: [(String, String)] = [
    ("{ a = b; }\n", "1:3: expected a member name in quotes; write one JSON object a line"),
    ("/home/x", "1:1: this is not a JSON value; write one JSON object a line"),
    ("(oops", "1:1: this is not a JSON value; write one JSON object a line"),
  ]

  @Test(arguments: foreign)
  func anotherFormatIsNoJSON(_ text: String, _ complaint: String) throws {
    try folder.write(text, to: "p")
    try folder.expect("import", "a", "p", says: "kvsync: p:\(complaint)\n", code: 65)
    #expect(!folder.exists("a"))
  }

  @Test(arguments: encodings)
  func linesInWideCharactersAreRefused(_ encoding: String.Encoding) throws {
    try write(#"{"key":"k","type":"integer","value":1}"#, encoding, to: "p", in: folder)
    try folder.expect(
      "import", "a", "p", says: "kvsync: p:1: this is not UTF-8; convert the file\n", code: 65)
  }

  @Test func whatNoPropertyListMayBeIsNotReadToItsEnd() throws {
    for head in ["bplist00", "<plist>"] {
      try folder.write(head, to: "p")
      try folder.shell("truncate", "-s", "8G", "p")
      try folder.expect(
        "import", "a", "p",
        says: "kvsync: p: the file is larger than the limit of 268435456 bytes; "
          + "split it, or raise the limit\n", code: 65)
    }
  }
}
