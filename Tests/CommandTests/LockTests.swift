// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Another process that holds a lock on a file until the end of the test.
private final class Locker {
  private static let script = """
    import sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    for statement in sys.argv[2:]: connection.execute(statement).fetchall()
    print("held", flush=True)
    sys.stdin.read()
    """
  private let process = Process()
  private let input = Pipe()

  init(_ folder: Folder, _ file: String, _ statements: [String]) throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: try Command.find("python3"))
    process.arguments = ["-c", Self.script, file] + statements
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    try #require(said.hasPrefix("held"), "the lock could not be taken")
  }

  func release() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

@Suite struct LockTests {
  private let locked =
    "another program keeps the file locked; "
    + "try again, or wait longer with a larger busy timeout"

  @Test(arguments: ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
  func aWriterElsewhereStopsWritersAndNoReaders(_ begin: String) throws {
    let folder = try Folder.furnished()
    try folder.must("set", "bad", "k", "locked", Moment.eleven.argument)
    try folder.addPeerAndConflict(to: "bad")
    let held = [try folder.contents("good"), try folder.contents("bad")]
    let locker = try Locker(folder, "bad", [begin])
    // A repair writes only what it finds.
    for command in FileCommand.writers where command != .repair {
      let ending = try folder.run(command.arguments("bad") + ["--busy-timeout", "50ms"])
      #expect(ending == Ending(stderr: "kvsync: bad: \(locked)\n", code: 75), "\(command)")
    }
    try folder.expect("get", "bad", "k", "--busy-timeout", "50ms", prints: "locked\n")
    #expect(try folder.run(FileCommand.mergeDryRun.arguments("bad")).code == 0)
    #expect(try [folder.contents("good"), folder.contents("bad")] == held)
    #expect(try folder.run(FileCommand.mergeOneWayFirst.arguments("bad")).code == 0)
    try locker.release()
    try folder.expect("set", "bad", "k", "free")
  }

  @Test func aFileThatSomebodyHasForHimselfStopsReadersToo() throws {
    let folder = try Folder.furnished()
    try folder.must("set", "bad", "k", "locked", Moment.eleven.argument)
    let held = [try folder.contents("good"), try folder.contents("bad")]
    let locker = try Locker(
      folder, "bad", ["PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "SELECT * FROM entry"])
    for command in FileCommand.allCases {
      let ending = try folder.run(command.arguments("bad") + ["--busy-timeout", "50ms"])
      #expect(ending == Ending(stderr: "kvsync: bad: \(locked)\n", code: 75), "\(command)")
    }
    try locker.release()
    #expect(try [folder.contents("good"), folder.contents("bad")] == held)
  }

  @Test func aMergeThatFindsALockChangesNoOtherFile() throws {
    let folder = try Folder.furnished()
    for file in ["other", "bad"] { try folder.must("set", file, file, "v", Moment.ten.argument) }
    let files = ["good", "other", "bad"]
    let held = try files.map(folder.contents)
    let locker = try Locker(folder, "bad", ["BEGIN IMMEDIATE"])
    for order in [files, ["bad", "good", "other"], ["bad", "good", "new"]] {
      let ending = try folder.run(["merge", "--create", "--busy-timeout", "50ms"] + order)
      #expect(ending == Ending(stderr: "kvsync: bad: \(locked)\n", code: 75), "\(order)")
      #expect(!folder.exists("new"))
    }
    try locker.release()
    #expect(try files.map(folder.contents) == held)
  }

  @Test func aLockThatIsReleasedInTimeIsWaitedFor() async throws {
    let folder = try Folder.furnished()
    let locker = try Locker(folder, "good", ["BEGIN IMMEDIATE"])
    let (tool, path) = (try Command.kvsync.get(), folder.path)
    async let ending = Command.run(tool, ["set", "good", "k", "late"], in: path)
    try locker.release()
    #expect(try await ending == Ending())
    try folder.expect("get", "good", "k", prints: "late\n")
  }
}
