// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct WatchTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  @Test func changesOfEveryKindOfWriterAreNotified() throws {
    try folder.must("set", "a", "k", "0", Moment.ten.argument)
    let watching = try RunningCommand(watching: "a", in: folder)
    try folder.must("set", "a", "k", "1")
    #expect(watching.line() == #"cloud/k: "0" -> "1""#)
    try folder.must("set", "a", "own", "x", "--store", "defaults")
    #expect(watching.line() == #"defaults/own: nothing -> "x""#)
    try folder.must("delete", "a", "own", "--store", "defaults")
    #expect(watching.line() == #"defaults/own: "x" -> nothing"#)
    try folder.shell("sqlite3", "a", "UPDATE entry SET value = 'shell'")
    #expect(watching.line() == #"cloud/k: "1" -> "shell""#)
    try folder.must("set", "b", "new\nkey", "b", Moment.ten.argument)
    try folder.must("merge", "a", "b")
    #expect(watching.line() == #"cloud/"new\nkey": nothing -> "b""#)
    try folder.must("delete", "a", "k")
    #expect(watching.line() == #"cloud/k: "shell" -> nothing"#)
    #expect(watching.end() == Ending())
  }

  @Test func jsonHasAnObjectALine() throws {
    try folder.must("set", "a", "k", "0", Moment.ten.argument)
    try folder.must("set", "b", "k", "1", Moment.eleven.argument)
    let (a, b) = (try folder.replica("a"), try folder.replica("b"))
    let watching = try RunningCommand(watching: "a", in: folder, "--json")
    try folder.must("merge", "a", "b", Moment.eleven.argument)
    let old = #"{"store":"cloud","key":"k","old":{"type":"string","value":"0"},"#
    #expect(
      watching.line()
        == old + #""new":{"type":"string","value":"1"},"#
        + Moment.eleven.provenance(b).dropLast() + #","reason":"merge"}"#)
    try folder.must("delete", "a", "k", Moment.twelve.argument)
    #expect(
      watching.line()
        == old.replacingOccurrences(of: "0", with: "1") + #""new":null,"#
        + Moment.twelve.provenance(a).dropLast() + #","reason":"local"}"#)
    #expect(watching.end(SIGTERM) == Ending())
  }

  @Test func onlyWhatIsAskedForIsNotified() throws {
    try folder.must("set", "a", "k", "0")
    let watching = try RunningCommand(
      watching: "a", in: folder, "--store", "cloud", "--prefix", "editor.")
    try folder.must("set", "a", "k", "1")
    try folder.must("set", "a", "editor.x", "1", "--store", "defaults")
    try folder.must("set", "a", "editor.size", "12")
    #expect(watching.line() == #"cloud/editor.size: nothing -> "12""#)
    #expect(watching.end() == Ending())
  }

  @Test func aFileThatIsReplacedEndsTheWatch() throws {
    for file in ["a", "b"] { try folder.must("set", file, "k", file) }
    let watching = try RunningCommand(watching: "a", in: folder)
    try folder.shell("mv", "b", "a")
    #expect(watching.line() == "(the end)")
    #expect(
      watching.end(0)
        == Ending(
          stderr: "kvsync: a: the file was deleted or replaced while it was open; "
            + "put it back, or open the device anew\n", code: 74))
  }
}
