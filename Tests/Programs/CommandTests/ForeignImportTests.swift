// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Files of other formats and encodings that `import` is given.
@Suite struct ForeignImportTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  static let encodings: [String.Encoding] = [
    .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian,
  ]

  /// A text, and what is said of it behind its name.
  static let foreign: [(String, String)] = [
    ("{ a = b; }\n", "1:3: expected a member name in quotes; fix it"),
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
    for text in [#"{"key":"k","type":"integer","value":1}"#, "<plist><dict/></plist>"] {
      try #require(text.data(using: encoding)).write(to: folder.url("p"))
      try folder.expect(
        "import", "a", "p", says: "kvsync: p:1: this is not UTF-8; convert the file\n", code: 65)
    }
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
