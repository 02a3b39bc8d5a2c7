// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct LockTests {
  private let folder: Folder
  init() throws { folder = try Folder.furnished() }

  private let locked =
    "another program keeps the file locked; "
    + "try again, or wait longer with a larger busy timeout"

  @Test(arguments: ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
  func aWriterElsewhereStopsWritersAndNoReaders(_ begin: String) throws {
    try folder.must("set", "bad", "k", "locked", Moment.eleven.argument)
    try folder.addPeerAndConflict(to: "bad")
    let held = [try folder.contents("good"), try folder.contents("bad")]
    let locker = try Locker(folder.url("bad"), [begin])
    // A repair writes only what it finds.
    for command in Seeds.some(of: FileCommand.writers, debug: 3) where command != .repair {
      let ending = try folder.run(command.arguments("bad") + ["--busy-timeout", "50ms"])
      #expect(ending == Ending(stderr: "kvsync: bad: \(locked)\n", code: 75), "\(command)")
    }
    for command in Seeds.some(of: [.repair] + FileCommand.readers, debug: 3)
    where command != .mergeOneWayFirst {
      let ending = try folder.run(command.arguments("bad") + ["--busy-timeout", "50ms"])
      #expect(ending.code == 0 || ending.code == 1 && command.mayAnswerNo, "\(command) \(ending)")
    }
    try folder.expect("get", "bad", "k", "--busy-timeout", "50ms", prints: "locked\n")
    #expect(try [folder.contents("good"), folder.contents("bad")] == held)
    #expect(try folder.run(FileCommand.mergeOneWayFirst.arguments("bad")).code == 0)
    try locker.release()
    try folder.expect("set", "bad", "k", "free")
  }

  @Test func aFileLockedExclusivelyStopsReadersToo() throws {
    try folder.must("set", "bad", "k", "locked", Moment.eleven.argument)
    let held = [try folder.contents("good"), try folder.contents("bad")]
    let locker = try Locker(
      folder.url("bad"),
      ["PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "SELECT * FROM entry"])
    for command in Seeds.some(of: FileCommand.allCases, debug: 3) {
      let ending = try folder.run(command.arguments("bad") + ["--busy-timeout", "50ms"])
      #expect(ending == Ending(stderr: "kvsync: bad: \(locked)\n", code: 75), "\(command)")
    }
    try locker.release()
    #expect(try [folder.contents("good"), folder.contents("bad")] == held)
  }

  @Test func aMergeThatFindsALockChangesNoOtherFile() throws {
    for file in ["other", "bad"] { try folder.must("set", file, file, "v", Moment.ten.argument) }
    let files = ["good", "other", "bad"]
    let held = try files.map(folder.contents)
    let locker = try Locker(folder.url("bad"), ["BEGIN IMMEDIATE"])
    for order in [files, ["bad", "good", "other"], ["bad", "good", "new"]] {
      let ending = try folder.run(["merge", "--create", "--busy-timeout", "50ms"] + order)
      #expect(ending == Ending(stderr: "kvsync: bad: \(locked)\n", code: 75), "\(order)")
      #expect(!folder.exists("new"))
    }
    try locker.release()
    #expect(try files.map(folder.contents) == held)
  }

  @Test func aLockThatIsReleasedInTimeIsWaitedFor() async throws {
    let locker = try Locker(folder.url("good"), ["BEGIN IMMEDIATE"])
    let (tool, path) = (try Command.kvsync.get(), folder.path)
    async let ending = Command.run(tool, ["set", "good", "k", "late"], in: path)
    try locker.release()
    #expect(try await ending == Ending())
    try folder.expect("get", "good", "k", prints: "late\n")
  }
}
