// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Lines that cannot be imported, and what is said of the last one.
struct BadLines: CustomTestStringConvertible, Sendable {
  let lines: String
  let place: String
  let complaint: String

  init(_ lines: String, at place: String, _ complaint: String) {
    self.lines = lines
    self.place = place
    self.complaint = complaint
  }

  static func syntax(_ lines: String, at place: String, _ problem: String) -> BadLines {
    BadLines(lines, at: place, problem + "; fix it")
  }

  var testDescription: String { String(lines.prefix(80)) }
}

private let good = #"{"key":"good","type":"integer","value":1}"#
private let shape = #"a line has either a value, or "deleted":true; fix it"#
private let notATime =
  #""at" is not a time from 1970 to 6429; write ISO 8601, or milliseconds since 1970"#

private func nested(_ depth: Int) -> String {
  String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
}
private let badLines: [BadLines] = [
  .syntax(good + "\n\n" + #"{"key":"b","type":}"#, at: "3:19", "this is not a JSON value"),
  .syntax(good + "\r\n" + #"{"kéy":1} x"#, at: "2:11", "unexpected text after the value"),
  BadLines(
    "[1]", at: "1", #"element 1: this is not an object; write {"key":…,"type":…,"value":…}"#),
  BadLines(
    #"{"key":"k","type":"integer","value":"x"}"#, at: "1",
    "the value is not of type integer: it is of type string; "
      + "correct the type or the value"),
  BadLines(
    #"{"key":"k","type":"date","value":"soon"}"#, at: "1",
    "the value is not of type date: not a date; write it as 2026-11-20T10:00:00.000Z"),
  BadLines(
    #"{"key":"k","type":"text","value":"x"}"#, at: "1",
    #"there is no type "text"; use string, integer, real, boolean, date, data, "#
      + "array or dictionary"),
  BadLines(
    #"{"key":"k","kind":"string"}"#, at: "1",
    #"there is no member "kind"; use at, deleted, key, seconds, store, tag, type, value"#),
  BadLines(
    #"{"key":"k","type":"date","value":"2026-11-20T10:00:00.123Z","seconds":816861600.2}"#, at: "1",
    "\"seconds\" is not the time of \"value\"; change both, or leave \"seconds\" out"),
  BadLines(
    #"[\#(good),{"key":""}]"#, at: "1",
    #"element 2: there is no key; add "key" with a text that is not empty"#),
  BadLines(#"{"key":"k"}"#, at: "1", shape),
  BadLines(#"{"key":"k","deleted":false}"#, at: "1", shape),
  BadLines(#"{"key":"k","deleted":true,"type":"string","value":"x"}"#, at: "1", shape),
  BadLines(
    #"{"key":"","type":"string","value":"x"}"#, at: "1",
    #"there is no key; add "key" with a text that is not empty"#),
  BadLines(
    #"{"store":"","key":"k","type":"string","value":"x"}"#, at: "1",
    "the store is not a name; write a text that is not empty"),
  BadLines(
    #"{"key":5,"type":"string","value":"x"}"#, at: "1",
    #"there is no key; add "key" with a text that is not empty"#),
  BadLines(#"{"key":"k","type":5,"value":"x"}"#, at: "1", shape),
  BadLines(#"{"key":"k","deleted":null}"#, at: "1", shape),
  BadLines(
    #"{"store":5,"key":"k","type":"string","value":"x"}"#, at: "1",
    "the store is not a name; write a text that is not empty"),
  BadLines(
    #"{"key":"k","type":"string","value":null}"#, at: "1",
    "the value is not of type string: null is not a value; delete the key instead"),
  BadLines(
    #"{"key":"k","type":"boolean","value":1}"#, at: "1",
    "the value is not of type boolean: it is of type integer; "
      + "correct the type or the value"),
  BadLines(
    #"{"key":"k","type":"real","value":"x"}"#, at: "1",
    #"the value is not of type real: not a number; write one, or "nan", "inf", "-inf""#),
  BadLines(
    #"{"key":"k","type":"data","value":"*"}"#, at: "1",
    "the value is not of type data: not base64 data; encode it as base64"),
  BadLines(
    #"{"key":"k","type":"opaque","value":1}"#, at: "1",
    "the value is not of type opaque: \"tag\" is missing; write an integer other than 0"),
  BadLines(
    #"{"key":"k","type":"opaque","tag":99,"value":true}"#, at: "1",
    "the value is not of type opaque: not an SQLite value; "
      + #"use null, a number, a string or {"$data":…}"#),
  BadLines(
    #"{"key":"k","type":"array","value":\#(nested(65))}"#, at: "1",
    "the value is not of type array: arrays and dictionaries nest deeper than 64 levels; "
      + "flatten them"),
  BadLines(
    #"{"key":"k","type":"array","value":\#(nested(50_000))}"#, at: "1:165",
    "nested deeper than 131 levels; fix it"),
  BadLines(
    #"{"key":"k","type":"integer","value":9223372036854775808}"#, at: "1:37",
    "this integer does not fit 64 bits; fix it"),
  .syntax(#"{"key":"k","type":"real","value":1e999}"#, at: "1:34", "this number is too large"),
  .syntax(#"{"key":"k","type":"string","value":"\ud800"}"#, at: "1:37", "unpaired surrogate"),
  .syntax(#"{"key":"k","type":"string","value":"x""#, at: "1:39", "expected , or }"),
  .syntax(#"{"key":"k","key":"k","deleted":true}"#, at: "1:12", "duplicate name"),
  BadLines(
    "null", at: "1", #"this is not an object; write {"key":…,"type":…,"value":…}"#),
  BadLines(
    "\u{0}", at: "1:1", "this is not a JSON value; write one JSON object a line"),
  BadLines("[", at: "1:2", "the text ends before a value; fix it"),
  BadLines(
    "<plist", at: "1:7", "<plist> is malformed here; close the tag with >"),
  BadLines(
    #"<plist version="1.0"><array/></plist>"#, at: "1:22",
    "the root is an array, not a dictionary; wrap the value in a <dict>"),
  BadLines(#"{"key":"k","deleted":true,"at":1.5}"#, at: "1", notATime),
  BadLines(#"{"key":"k","deleted":true,"at":140737488355328}"#, at: "1", notATime),
  BadLines(#"{"key":"k","deleted":true,"at":-1}"#, at: "1", notATime),
]

@Suite struct ImportTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  private static let lines = """
    {"key":"text","type":"string","value":"a\\u0000\\n\\"b"}
    {"store":"defaults","key":"count","type":"integer","value":3}

    {"key":"share","type":"real","value":"nan","at":"2026-11-20T11:00:00Z"}
    {"key":"gone","type":"boolean","value":true}
    {"key":"gone","deleted":true,"at":\(Moment.twelve.milliseconds)}
    {"key":"when","type":"date","value":"2026-11-20T10:00:00.123Z"}
    {"key":"bytes","type":"data","value":"AAEC"}
    {"key":"list","type":"array","value":[1,{"$date":"2026-11-20T10:00:00Z"}]}
    {"key":"tree","type":"dictionary","value":{"a":{"$data":"AAEC"}}}
    """

  @Test(arguments: ["in", "-"])
  func everyLineBecomesAnEntryInFileOrder(_ input: String) throws {
    try folder.write(Self.lines, to: "in")
    try folder.expect(
      "import", "a", input, "--json", Moment.ten.argument, stdin: "in",
      prints: #"{"imported":9,"changed":8}"# + "\n")
    try folder.expect("get", "a", "text", prints: "a\u{0}\n\"b\n")
    // A key that was made and deleted again has not changed.
    let id = try folder.replica("a")
    let cloud = [
      #""bytes":"# + Moment.twelve.entry("data", #""AAEC""#, id, 2),
      #""gone":"# + Moment.twelve.tombstone(id),
      #""list":"#
        + Moment.twelve.entry("array", #"[1,{"$date":"2026-11-20T10:00:00.000Z"}]"#, id, 3),
      #""share":"# + Moment.eleven.entry("real", #""nan""#, id),
      #""text":"# + Moment.ten.entry("string", #""a\u0000\n\"b""#, id),
      #""tree":"# + Moment.twelve.entry("dictionary", #"{"a":{"$data":"AAEC"}}"#, id, 4),
      #""when":"# + Moment.twelve.entry("date", #""2026-11-20T10:00:00.123Z""#, id, 1),
    ]
    let own = #""count":"# + Moment.ten.entry("integer", "3", id, 1)
    let stores = "{\"cloud\":{\(cloud.joined(separator: ","))},\"defaults\":{\(own)}}"
    try folder.expect(
      "list", "a", "--json", "--deleted",
      prints: "{\"replica\":\"\(id)\",\"stores\":\(stores)}\n")
  }

  @Test func linesThatNameNoStoreGoToTheOneOfTheOption() throws {
    try folder.write(good, to: "in")
    try folder.expect(
      "import", "a", "in", "--store", "cloud:x", prints: "1 imported, 1 changed\n")
    try folder.expect("get", "a", "good", "--store", "cloud:x", prints: "1\n")
    try folder.expect("import", "a", "in", "--store", "cloud:x", "--quiet")
  }

  @Test func aValueWithoutATypeHasThatOfItsJSON() throws {
    let lines = [
      #"{"key":"a","value":"x"}"#, #"{"key":"b","value":1}"#, #"{"key":"c","value":1.5}"#,
      #"{"key":"d","value":true}"#, #"{"key":"e","value":[1,{"f":"g"}]}"#,
      #"{"key":"h","type":"data","value":"AA EC\n"}"#,
    ]
    try folder.write(lines.joined(separator: "\n"), to: "in")
    try folder.expect("import", "a", "in", prints: "6 imported, 6 changed\n")
    let list = try folder.must("list", "a", "--json")
    for type in ["string", "integer", "real", "boolean", "array", "data"] {
      #expect(list.contains("\"type\":\"\(type)\""))
    }
  }

  @Test(arguments: ["", "\n \r\n\t"])
  func anEmptyInputImportsNothing(_ text: String) throws {
    try folder.write(text, to: "in")
    try folder.expect("import", "a", "in", prints: "0 imported, 0 changed\n")
    try folder.expect("list", "a")
  }

  @Test(arguments: badLines)
  func aBadLineWritesNothingAndMakesNoFile(_ bad: BadLines) throws {
    #expect(bad.complaint.contains("; "), "what to do")
    try folder.write(bad.lines, to: "in")
    try folder.expect(
      "import", "a", "in", says: "kvsync: in:\(bad.place): \(bad.complaint)\n", code: 65)
    #expect(try folder.names() == ["in"])
  }

  @Test func aBadLastLineLeavesWhatWasThere() throws {
    try folder.must("set", "a", "good", "before", Moment.ten.argument)
    let before = try folder.contents("a")
    try folder.write(good + "\n{", to: "in")
    try folder.expect(
      "import", "a", "-", stdin: "in",
      says: "kvsync: (standard input):2:2: expected a member name in quotes; fix it\n",
      code: 65)
    #expect(try folder.contents("a") == before)
  }

  @Test func aByteThatIsNotUTF8IsNamedByItsLine() throws {
    try (Data(good.utf8) + [0x0A, 0x22, 0xFF, 0x22]).write(to: folder.url("in"))
    try folder.expect(
      "import", "a", "in", says: "kvsync: in:2: this is not UTF-8; convert the file\n",
      code: 65)
    #expect(try folder.names() == ["in"])
  }

  @Test func aMissingInputMakesNoFile() throws {
    try folder.expect(
      "import", "a", "in", says: "kvsync: in: there is no such file; check the path\n", code: 66)
    #expect(try folder.names() == [])
  }

  @Test func aPropertyListIsKnownByItsContent() throws {
    try folder.write(defaultsTable, to: "in")
    try folder.expect("import", "a", "in", "--json", prints: #"{"imported":2,"changed":2}"# + "\n")
    try folder.expect(
      "list", "a", prints: "cloud\ttheme\tstring\t\"light\"\ncloud\tvolume\treal\t0.5\n")
  }

  /// More white space than is read at once.
  @Test(
    arguments: [
      #"[{"key":"k","type":"integer","value":1}]"#,
      "<plist version=\"1.0\"><dict><key>k</key><integer>1</integer></dict></plist>",
    ], ["", "\u{feff}"])
  func whatComesBehindMuchWhiteSpaceIsKnownByItsContent(content: String, mark: String) throws {
    try folder.write(mark + String(repeating: "\n", count: 70_000) + content, to: "in")
    try folder.must("import", "a", "in")
    try folder.expect("get", "a", "k", prints: "1\n")
  }

  @Test(arguments: [
    #"cat in | "$0" import a - --json"#, #"cat in >pipe & "$0" import a pipe --json"#,
  ])
  func aPipeIsReadToItsEnd(_ script: String) throws {
    try folder.write(good, to: "in")
    try folder.shell("mkfifo", "pipe")
    let said = try folder.shell("sh", "-c", script, Command.kvsync.get())
    #expect(said == #"{"imported":1,"changed":1}"# + "\n")
  }

  @Test func anImportThatFailsLeavesNoNewFile() throws {
    let line = #"{"key":"k","type":"integer","value":1}"#
    try folder.write(Array(repeating: line, count: 70_000).joined(separator: "\n"), to: "in")
    let ending = try folder.run(["import", "new", "in", "--at", "140737488355327"])
    #expect(ending.code >= 64 && ending.stderr.hasPrefix("kvsync: new: "), "\(ending)")
    #expect(try folder.names() == ["in"])
  }

  /// The import waits for the device between its two readings of the input.
  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "needs /proc"))
  func nothingOfAnInputThatChangesMeanwhileIsWritten() throws {
    try folder.must("set", "a", "k", "v")
    let line = #"{"key":"k","type":"string","value":"new"}"# + "\n"
    try folder.write(line, to: "in")
    let locker = try Locker(folder.url("a"), ["BEGIN IMMEDIATE"])
    let importing = try RunningCommand(folder, ["import", "a", "in"])
    // The command has read its input once it has the device open; Scripts/watch-tests ends a hang.
    while (try? importing.openFile(endingWith: "/a-shm")) == nil {}
    try folder.write("", to: "in")
    try locker.release()
    // Signal 0 is none.
    #expect(
      importing.end(0)
        == Ending(
          stderr: "kvsync: in: the file changed while it was imported; try again\n", code: 74))
    try folder.expect("get", "a", "k", prints: "v\n")
  }
}
