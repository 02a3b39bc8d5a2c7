// SPDX-License-Identifier: Apache-2.0
//
// A log or a journal beside a file that is not its own is never applied; its own always is.

import Foundation
import TestSupport
import Testing

@Suite struct ForeignLogTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  private let later = "sequence_number = sequence_number + 300"

  private static let foreign =
    "kvsync: m: m-wal is not this file's log, so nothing was read or written; "
    + "move m-wal away, or put a backup in place by kvsync restore\n"

  /// Large enough for several pages of each table and index.
  private func fill(_ file: String, _ value: String) throws {
    let lines = (0..<300).map { #"{"key":"key \#($0)","type":"string","value":"\#(value)"}"# }
    try folder.write(lines.joined(separator: "\n"), to: "lines")
    try folder.must("import", file, "lines", "--quiet", Moment.ten.argument)
  }

  private func expectRefused() throws {
    let before = try folder.digests("m", "m-wal")
    for words in [
      ["get", "m", "key 1"], ["list", "m"], ["doctor", "m"], ["set", "m", "k", "v"],
      ["export", "m"], ["compact", "m"], ["clone", "m", "n"], ["doctor", "m", "--repair"],
    ] {
      try folder.expect(words, says: Self.foreign, code: 65)
    }
    #expect(try folder.digests("m", "m-wal") == before)
  }

  @Test func theLogOfACrashIsNotAppliedToABackupThatWasCopiedOver() throws {
    try fill("m", "old")
    try folder.shell("cp", "m", "backup")
    try fill("m", "new")
    try folder.crash("m", "UPDATE entry SET value = 'late', \(later) WHERE key < 'key 2'")
    try folder.shell("cp", "backup", "m")
    try expectRefused()
    try folder.shell("rm", "m-wal", "m-shm")
    try folder.expect("get", "m", "key 1", prints: "old\n")
  }

  @Test(arguments: [3, 300])
  func theLogOfAnotherDeviceIsNotApplied(count: Int) throws {
    try fill("m", "mine")
    try fill("other", "theirs")
    try folder.crash(
      "other", "UPDATE entry SET value = 'x', \(later) WHERE sequence_number <= \(count)",
      "UPDATE replica SET \(later)")
    try folder.shell("cp", "other-wal", "m-wal")
    try expectRefused()
    try folder.shell("rm", "m-wal")
    try folder.expect("get", "m", "key 1", prints: "mine\n")
    try folder.expectDoctor("m", Moment.ten.argument, prints: "m: nothing is wrong\n")
  }

  @Test func theLogOfAnEarlierStateIsNotAppliedToALaterOne() throws {
    try fill("m", "old")
    try folder.crash(
      "m", "UPDATE entry SET value = 'early', sequence_number = 301 WHERE key = 'key 1'")
    try folder.shell("cp", "m-wal", "early")
    try folder.must("set", "m", "key 1", "late", Moment.eleven.argument)
    try folder.shell("cp", "early", "m-wal")
    try expectRefused()
    try folder.shell("rm", "m-wal")
    try folder.expect("get", "m", "key 1", prints: "late\n")
  }

  /// The logs that `LogCheck` cannot distinguish.
  @Test func theLogOfALaterStateWhosePagesAllFitIsApplied() throws {
    try fill("m", "old")
    try folder.addPeerAndConflict(to: "m")
    try folder.shell("cp", "m", "backup")
    try folder.shell("sqlite3", "m", "UPDATE conflict SET found_at = 5")
    try folder.crash(
      "m", "UPDATE entry SET value = 'late', sequence_number = 301 WHERE key = 'key 1'")
    try folder.shell("cp", "backup", "m")
    try folder.expect("get", "m", "key 1", prints: "late\n")
    #expect(try folder.shell("sqlite3", "m", "SELECT found_at FROM conflict") == "3\n")
    #expect(try folder.shell("sqlite3", "m", "PRAGMA integrity_check") == "ok\n")
  }

  @Test func theFilesOwnLogIsAppliedWhereverItIsTorn() throws {
    try fill("whole", "old")
    let change = "UPDATE entry SET value = 'late', \(later) WHERE key < 'key 2'"
    try folder.crash("whole", change, "DELETE FROM entry WHERE key = 'key 7'")
    let log = try Data(contentsOf: folder.url("whole-wal"))
    var values: Set<String> = []
    for length in stride(from: 0, through: log.count, by: max(1, log.count / 12)) + [log.count] {
      try folder.shell("rm", "-f", "m-shm")
      try folder.shell("cp", "whole", "m")
      try log.prefix(length).write(to: folder.url("m-wal"))
      values.insert(try folder.must("get", "m", "key 1"))
      #expect(try folder.shell("sqlite3", "m", "PRAGMA integrity_check") == "ok\n")
    }
    #expect(values == ["old\n", "late\n"])
  }

  @Test func aLogThatWasMovedInPartIsTheFilesOwn() throws {
    try fill("m", "old")
    try folder.shell("cp", "m", "before")
    // Nothing is written after the checkpoint: it would start the log anew, which SQLite does only
    // when the pages are on stable storage.
    try folder.crash("m", "UPDATE entry SET value = 'late'", "PRAGMA wal_checkpoint(PASSIVE)")
    // A power cut kept only some of the pages that the checkpoint wrote.
    let old = try Data(contentsOf: folder.url("before"))
    let new = try Data(contentsOf: folder.url("m"))
    var mixed = new
    for start in stride(from: 0, to: min(old.count, new.count), by: 3072) {
      mixed.replaceSubrange(start..<start + 1024, with: old[start..<start + 1024])
    }
    try mixed.write(to: folder.url("m"))
    try folder.expect("get", "m", "key 1", prints: "late\n")
    try folder.expect("get", "m", "key 3", prints: "late\n")
  }

  @Test func aHotJournalIsRefused() throws {
    try fill("m", "mine")
    try folder.write("\u{d9}\u{d5}journal of another file", to: "m-journal")
    let before = try folder.digests("m", "m-journal")
    for words in [["get", "m", "key 1"], ["set", "m", "k", "v"]] {
      try folder.expect(
        words,
        says: "kvsync: m: m-journal is a rollback journal, which no file of ours has, so "
          + "nothing was read or written; "
          + "move m-journal away, or put a backup in place by kvsync restore\n", code: 65)
    }
    #expect(try folder.digests("m", "m-journal") == before)
  }

  @Test(arguments: ["-journal", "-wal", "-shm"])
  func aPipeBesideAFileHangsNothing(name: String) throws {
    try fill("m", "mine")
    try folder.shell("mkfifo", "m" + name)
    for words in [["get", "m", "key 1"], ["set", "m", "k", "v"], ["doctor", "m"]] {
      try folder.expect(
        words,
        says: "kvsync: m: m\(name) is not a regular file, so nothing was read or written; "
          + "move m\(name) away, or put a backup in place by kvsync restore\n", code: 65)
    }
  }
}
