// SPDX-License-Identifier: Apache-2.0
//
// Read-only files whose log holds the newest writes.

import Foundation
import TestSupport
import Testing

@Suite struct LiveLogTests {
  /// Writes what stays in the log as long as the connection is open.
  private static let writes = [
    "PRAGMA wal_autocheckpoint = 0", "UPDATE entry SET value = 'in the log'",
  ]
  private let readOnly =
    "kvsync: sub/bad: the file or its folder is read-only; "
    + "make both writable: SQLite keeps its log beside the file\n"

  @Test(arguments: [["555", "sub"], ["444", "sub/bad"]])
  func whatAWriterHasOpenIsReadThroughItsLogAndNotWritten(_ mode: [String]) throws {
    let folder = try Folder.lockable()
    let locker = try Locker(folder.url("sub/bad"), Self.writes)
    try folder.handOver()
    try folder.shell("chmod", mode[0], mode[1])
    let before = try folder.digests("sub/bad", "sub/bad-wal")
    for command in Seeds.some(of: FileCommand.writers, debug: 3) {
      #expect(
        try folder.runUnprivileged(command.arguments("sub/bad"))
          == Ending(stderr: readOnly, code: 77), "\(command)")
    }
    #expect(
      try folder.runUnprivileged(["get", "sub/bad", "k"]) == Ending(stdout: "in the log\n"))
    for command in FileCommand.readers
    where command == .clone || FileCommand.sample.contains(command) {
      let ending = try folder.runUnprivileged(command.arguments("sub/bad"))
      #expect(ending.code == 0 || ending.code == 1 && command.mayAnswerNo, "\(command) \(ending)")
      #expect(ending.stderr == "", "\(command) \(ending)")
    }
    #expect(
      try folder.runUnprivileged(["get", "cloned", "k"]) == Ending(stdout: "in the log\n"))
    #expect(try folder.digests("sub/bad", "sub/bad-wal") == before)
    try locker.release()
    try folder.shell("chmod", "755", "sub")
  }

  @Test func aLogThatCannotBeReadAlongIsNotIgnored() throws {
    let folder = try Folder.furnished()
    let locker = try Locker(folder.url("good"), Self.writes)
    try folder.makeFolder("sub")
    for log in ["", "-wal"] { try folder.shell("cp", "good" + log, "sub/bad" + log) }
    try locker.release()
    try folder.handOver()
    try folder.shell("chmod", "555", "sub")
    let before = try folder.digests("sub/bad", "sub/bad-wal")
    let unfinished =
      "kvsync: sub/bad: its folder is read-only and holds an unfinished -wal log; "
      + "copy the file and its -wal to a folder of yours and read them there\n"
    for command in FileCommand.sample {
      let isWriter = FileCommand.writers.contains(command)
      #expect(
        try folder.runUnprivileged(command.arguments("sub/bad"))
          == Ending(stderr: isWriter ? readOnly : unfinished, code: 77), "\(command)")
    }
    #expect(try folder.digests("sub/bad", "sub/bad-wal") == before)
    try folder.shell("chmod", "755", "sub")
    try folder.expect("get", "sub/bad", "k", prints: "in the log\n")
  }

  @Test func aTemporaryFolderThatCannotBeWrittenStopsADryRun() throws {
    let folder = try Folder.lockable()
    try folder.shell("chmod", "555", "sub")
    let words = ["--dry-run", "good", "sub/bad"]
    let tool = try Command.kvsync.get()
    let setpriv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    let ending = try Command.run(
      Command.find("env"),
      ["TMPDIR=\(folder.path)/sub"] + (getuid() == 0 ? setpriv : []) + [tool, "merge"] + words,
      in: folder.path)
    let complaint =
      "no temporary folder can be made in it (Permission denied); "
      + "set TMPDIR to a folder that you can write to"
    #expect(ending == Ending(stderr: "kvsync: \(folder.path)/sub: \(complaint)\n", code: 73))
    try folder.shell("chmod", "755", "sub")
  }

  @Test func aFolderThatCannotBeListedStopsADoctor() throws {
    let folder = try Folder.lockable()
    try folder.shell("chmod", "311", "sub")
    for options in [[], ["--repair"]] {
      #expect(
        try folder.runUnprivileged(["doctor", "sub/bad"] + options)
          == Ending(
            stderr: "kvsync: sub/bad: its folder cannot be searched; "
              + "check the folder's permissions\n", code: 77))
    }
    try folder.shell("chmod", "755", "sub")
  }
}
