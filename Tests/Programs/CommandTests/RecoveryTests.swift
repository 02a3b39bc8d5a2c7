// SPDX-License-Identifier: Apache-2.0
//
// The tool with the files that backups and recoveries keep in a device's folder.

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct RecoveryTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  /// 2026-11-21T10:00:00Z
  private let day = WallClock.fixed(Date(timeIntervalSince1970: 1_795_255_200))

  @Test func aDamagedFileThatAProgramHasOpenStaysWhereItIs() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    let watching = try RunningCommand(watching: "a", in: folder)
    var bytes = try Data(contentsOf: folder.url("a"))
    for place in 1024..<bytes.count { bytes[place] = 0xA5 }
    let file = try FileHandle(forWritingTo: folder.url("a"))
    try file.write(contentsOf: bytes)
    try file.close()
    let error = #expect(throws: KeepsakeError.self) {
      try Device.recover(at: folder.url("a")) { _ in .startEmpty }
    }
    #expect(error?.code == .locked, "\(error as Any)")
    #expect(try folder.names() == ["a"], "and its log and shared memory")
    _ = watching.end()
    #expect(try Device.recover(at: folder.url("a")) { _ in .startEmpty } != nil)
  }

  @Test func backupsAreNothingWrongAndOneIsNamedWhereItIsNeeded() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try Device(path: folder.url("a").path, clock: day).backUpToday()
    #expect(try folder.names() == ["a", "a.backup-2026-11-21"])
    try folder.expectDoctor("a", Moment.ten.argument, prints: "a: nothing is wrong\n")
    try folder.spoilIndex(of: "a")
    let sick = try folder.run(["doctor", "a", Moment.ten.argument])
    #expect(sick.code == 1 && sick.stdout.contains("restore the backup a.backup-2026-11-21, or"))
  }

  @Test func aFileThatWasPutAsideIsReportedAndNeverRemoved() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.write("ten bytes!", to: "a")
    let aside = try Device.recover(at: folder.url("a"), clock: day) { _ in .startEmpty }
    let name = "a.corrupt-2026-11-21T100000"
    #expect(aside?.lastPathComponent == name)
    for option in [[], ["--repair"]] as [[String]] {
      try folder.expectDoctor(
        ["a", Moment.ten.argument] + option,
        prints: "leftover: \(name) is a damaged file that a recovery put aside; "
          + "export what can be read of it, then remove it and its -wal\n", code: 1)
    }
    #expect(try folder.names() == ["a", name])
  }
}

extension Folder {
  /// Leaves the row of the key `k` out of an index.
  func spoilIndex(of file: String) throws {
    try shell(
      "sqlite3", file, "PRAGMA writable_schema = ON",
      "UPDATE sqlite_schema SET"
        + " sql = 'CREATE UNIQUE INDEX entry_sequence ON entry (sequence_number) WHERE 0'"
        + " WHERE name = 'entry_sequence'")
    try shell("sqlite3", file, "UPDATE entry SET sequence_number = 9 WHERE key = 'k'")
    try shell(
      "sqlite3", file, "PRAGMA writable_schema = ON",
      "UPDATE sqlite_schema SET"
        + " sql = 'CREATE UNIQUE INDEX entry_sequence ON entry (sequence_number)'"
        + " WHERE name = 'entry_sequence'")
  }
}
