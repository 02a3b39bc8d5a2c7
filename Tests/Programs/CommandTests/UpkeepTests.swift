// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The commands that look after a device: peers, clone, doctor.
@Suite struct UpkeepTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  // MARK: - peers

  @Test func aDeviceListsThePeersItHasMergedWith() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.expect("peers", "a")
    try folder.must("merge", "a", "b", "--create", Moment.eleven.argument)
    let (a, b) = (try folder.replica("a"), try folder.replica("b"))
    let synced = "synced \(Moment.eleven.shown)"
    try folder.expect("peers", "a", prints: "\(b)\t\(synced)\tcloud: read 1, sent 1\n")
    try folder.expect("peers", "b", prints: "\(a)\t\(synced)\tcloud: read 1, sent 1\n")
    try folder.expect(
      "peers", "a", "--json",
      prints: #"{"replica":"\#(a)","peers":[{"peer":"\#(b)","synced":"\#(Moment.eleven.shown)","#
        + #""stores":{"cloud":{"read":1,"sent":1}}}]}"# + "\n")
  }

  // MARK: - clone

  @Test func aCloneIsADeviceOfItsOwn() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.must("set", "a", "own", "v", "--store", "defaults", Moment.ten.argument)
    let ending = try folder.run(["clone", "a", "b", Moment.ten.argument])
    let (a, b) = (try folder.replica("a"), try folder.replica("b"))
    #expect(a != b && ending == Ending(stdout: "b is device \(b)\n"))
    #expect(try folder.stores("a") == folder.stores("b"))
    let doctor = try folder.run(["doctor", "b"])
    #expect(doctor.code == 0 && doctor.stdout == "b: nothing is wrong\n")
    #expect(doctor.stderr.contains("was device \(a) until "))
  }

  @Test func nothingIsClonedOverAFileThatIsThere() throws {
    for file in ["a", "b"] { try folder.must("set", file, "k", file) }
    try folder.link("nowhere", to: "gone")
    try folder.link("soft", to: "a")
    try FileManager.default.linkItem(at: folder.url("a"), to: folder.url("hard"))
    try folder.makeFolder("folder")
    let before = try folder.digests("a", "b")
    for name in ["a", "./a", "folder/../a", "hard", "soft"] {
      try folder.expect(
        "clone", "a", name,
        says: "kvsync: \(name): this file is named twice; name each file once\n",
        code: 64)
    }
    for name in ["b", "nowhere", "folder"] {
      try folder.expect(
        "clone", "a", name,
        says: "kvsync: \(name): there is a file of this name already; "
          + "name a new file, or remove this one\n", code: 73)
    }
    try folder.expect(
      "clone", "a", "none/b",
      says: "kvsync: none/b: its folder does not exist; "
        + "make the folder, or name one that you can write to\n", code: 73)
    #expect(try folder.digests("a", "b") == before)
    #expect(try folder.names() == ["a", "b", "folder", "hard", "nowhere", "soft"])
  }

  // MARK: - doctor

  @Test func aHealthyDeviceIsZero() throws {
    try folder.must("set", "a", "k", "v")
    try folder.expectDoctor("a", prints: "a: nothing is wrong\n")
    try folder.expect("doctor", "a", "--quiet")
    try folder.expect(
      "doctor", "a", "--json",
      prints: #"{"ok":true,"replica":"\#(try folder.replica("a"))","former":[],"findings":[],"#
        + #""sqlite":\#(Doctor.json)}"# + "\n")
  }

  @Test(arguments: [
    (
      "UPDATE entry SET type = 2",
      "value: cloud/k is not of its type (number 2); "
        + "set the key anew; its bytes are kept until then\n"
    ),
    (
      "UPDATE entry SET type = 0",
      "row: cloud/k is a row that no device writes; "
        + "set the key anew, or delete it\n"
    ),
    (
      "UPDATE entry SET replica_id = -1",
      "row: cloud/k is a row that no device writes; "
        + "set the key anew, or delete it\n"
    ),
    (
      "INSERT INTO peer (replica_id, store) SELECT id, 'cloud' FROM replica; "
        + "UPDATE peer SET synced_at = 1795168800000",
      "identity: its replica ID 0000000000000007 is not its own; "
        + "kvsync clone makes a device with a new one\n"
    ),
  ])
  func whatIsWrongIsReportedAndIsOne(_ damage: String, _ told: String) throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.shell("sqlite3", "a", "UPDATE replica SET id = 7; " + damage)
    try folder.expectDoctor("a", Moment.ten.argument, prints: told, code: 1)
    try folder.expectDoctor("a", Moment.ten.argument, "--repair", prints: told, code: 1)
  }

  @Test func aClockThatIsAheadIsReported() throws {
    try folder.must("set", "a", "k", "v", Moment.eleven.argument)
    try folder.expectDoctor(
      "a", Moment.ten.argument,
      prints:
        "clock: its clock is 3600 s ahead of this machine's, and 1 entry with it; if this machine's"
        + " clock is right, --repair writes the late entries anew; until then others do not read"
        + " what is written here\n", code: 1)
    let repaired = try folder.run(["doctor", "a", Moment.ten.argument, "--repair"])
    #expect(repaired.stdout.contains("and 1 entry with it; repaired"), "\(repaired)")
    try folder.expect(
      "doctor", "a", Moment.ten.argument, "--quiet")
    try folder.expect("get", "a", "k", prints: "v\n")
  }

  @Test func anIndexThatLacksARowIsBuiltAnew() throws {
    for key in ["k", "l"] { try folder.must("set", "a", key, "v", Moment.ten.argument) }
    try folder.spoilIndex(of: "a")
    let sick = try folder.run(["doctor", "a", Moment.ten.argument])
    #expect(sick.code == 1 && sick.stdout.hasPrefix("integrity: "), "\(sick)")
    let mended = try folder.run(["doctor", "a", "--repair", Moment.ten.argument])
    #expect(mended.code == 0 && mended.stdout.hasSuffix("; repaired\n"), "\(mended)")
    try folder.expectDoctor("a", Moment.ten.argument, prints: "a: nothing is wrong\n")
  }

  @Test func aDraftThatHasGotItsNameIsNoSecondName() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    let draft = "a.new-0123456789abcdef"
    try folder.makeFolder(draft)
    try FileManager.default.linkItem(at: folder.url("a"), to: folder.url(draft + "/device"))
    try folder.expectDoctor("a", Moment.ten.argument, prints: "a: nothing is wrong\n")
    #expect(try folder.names() == ["a", draft])
    try folder.must("set", "a", "k", "w")
    #expect(try folder.names() == ["a"])
  }

  @Test func aFileWithTwoNamesIsReported() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try FileManager.default.linkItem(at: folder.url("a"), to: folder.url("b"))
    try folder.expectDoctor(
      "a", Moment.ten.argument,
      prints: "identity: the file has 2 names (hard links); "
        + "keep one and remove the others; what is written under two names is lost\n", code: 1)
  }
}
