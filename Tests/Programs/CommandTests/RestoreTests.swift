// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import TestSupport
import Testing

@Suite struct RestoreTests {
  private let folder: Folder

  init() throws {
    folder = try Folder()
    try folder.must("set", "m", "k", "old", Moment.ten.argument)
    try folder.shell("cp", "m", "backup")
    try folder.must("set", "m", "k", "new", Moment.eleven.argument)
  }

  private func expectRestored() throws {
    let restored = try folder.must("restore", "backup", "m")
    let id = try folder.replica("m")
    let end = "newer writes of other devices win at the next sync"
    #expect(restored == "m is as backup, device \(id); \(end)\n")
    #expect(try id != folder.replica("backup"))
    try folder.expect("get", "m", "k", prints: "old\n")
    let doctor = try folder.run(["doctor", "m", Moment.eleven.argument])
    #expect(doctor.code == 0 && doctor.stdout == "m: nothing is wrong\n")
    let former = "kvsync: was device \(try folder.replica("backup")) until "
    #expect(doctor.stderr.hasPrefix(former) && doctor.stderr.contains(": a backup was restored\n"))
    #expect(try folder.names().filter { $0.hasPrefix("m.") } == [])
  }

  @Test func aBackupTakesADevicesPlace() throws {
    try expectRestored()
    let json = try folder.must("restore", "backup", "m", "--json")
    #expect(json == #"{"path":"m","replica":"\#(try folder.replica("m"))"}"# + "\n")
    try folder.expect("restore", "backup", "m", "--quiet")
  }

  @Test func aBackupMayBeWrittenAsOfToday() throws {
    try folder.must("set", "m", "added", "1", Moment.eleven.argument)
    let id = try folder.replica("m")
    let says = "m has the values of backup, as of today; 2 values changed\n"
    try folder.expect("restore", "backup", "m", "--as-new", prints: says)
    try folder.expect("get", "m", "k", prints: "old\n")
    #expect(try folder.replica("m") == id)
    try folder.must("merge", "m", "other", "--create")
    #expect(try folder.must("list", "other").split(separator: "\n").count == 1)
  }

  @Test(arguments: [
    "rm m", "rm m; echo rest > m-wal", "echo damaged > m", "truncate -s 2000 m",
    "echo of another > m-wal", "printf x > m-journal", "mkfifo m-journal", ": > m",
  ])
  func whateverIsInItsPlaceGoes(damage: String) throws {
    try folder.shell("sh", "-c", damage)
    try expectRestored()
  }

  @Test func whatACrashLeftInTheLogDoesNotComeBack() throws {
    try folder.crash("m", "UPDATE entry SET value = 'late'")
    try expectRestored()
  }

  @Test func aFileThatIsOpenIsNotReplaced() throws {
    let locker = try Locker(folder.url("m"), ["SELECT count(*) FROM entry"])
    let before = try folder.digests("m")
    try folder.expect(
      "restore", "backup", "m",
      says: "kvsync: m: a program has it open; close it there and try again\n", code: 75)
    #expect(try folder.digests("m") == before)
    #expect(try folder.names() == ["backup", "m"])
    try locker.release()
    try expectRestored()
  }

  @Test func whatIsNoBackupIsRefused() throws {
    try folder.shell("cp", "backup", "short")
    try folder.shell("truncate", "-s", "3000", "short")
    try folder.write("text", to: "text")
    try folder.makeFolder("folder")
    let before = try folder.digests("m")
    for (words, code) in [
      (["none", "m"], 66), (["text", "m"], 65), (["short", "m"], 65), (["folder", "m"], 65),
      (["m", "m"], 64), (["backup", "folder"], 73), (["backup", "none/m"], 73),
    ] as [([String], Int32)] {
      let ending = try folder.run(["restore"] + words)
      #expect(ending.code == code && ending.stdout == "", "\(words) \(ending)")
      #expect(ending.stderr.split(separator: "\n").count == 1, "\(words) \(ending)")
    }
    #expect(try folder.digests("m") == before)
    #expect(try folder.names() == ["backup", "folder", "m", "short", "text"])
  }

  @Test(.enabled(if: KillPoint.isPossible, KillPoint.need))
  func aKilledRestoreLeavesTheOldOrTheNewWhole() throws {
    try folder.crash("m", "UPDATE entry SET value = 'in the log'")
    for name in ["m", "m-wal"] { try folder.shell("cp", name, "old-" + name) }
    func restore(_ environment: [String]) throws -> Ending {
      try folder.shell("sh", "-c", "rm -rf m m-* m.*; cp old-m m; cp old-m-wal m-wal")
      return try Command.run(
        Command.find("env"), environment + [Command.kvsync.get(), "restore", "backup", "m"],
        in: folder.path)
    }
    let points = try KillPoint.points { words in
      let ending = try restore(words)
      #expect(ending.code == 0, "\(ending)")
    }
    var seen: Set<String> = []
    for point in points {
      let ending = try restore(KillPoint.environment(at: point))
      #expect(ending.code == 128 + SIGKILL, "point \(point) \(ending)")
      let value = try folder.must("get", "m", "k")
      seen.insert(value)
      #expect(["in the log\n", "old\n"].contains(value), "point \(point)")
      #expect(try folder.shell("sqlite3", "m", "PRAGMA integrity_check") == "ok\n", "\(point)")
    }
    #expect(seen.count == 2)
    try folder.must("restore", "backup", "m")
    #expect(try folder.names().filter { $0.hasPrefix("m.") } == [])
  }

  @Test func theFileKeepsItsLinkAndItsPermissions() throws {
    try folder.shell("chmod", "640", "m")
    try folder.link("link", to: "m")
    try folder.must("restore", "backup", "link")
    try folder.expect("get", "m", "k", prints: "old\n")
    #expect(try folder.shell("stat", "-c", "%a", "m") == "640\n")
    #expect(try folder.shell("readlink", "link") == "m\n")
    try folder.link("nowhere", to: "none")
    try folder.expect(
      "restore", "backup", "nowhere",
      says: "kvsync: nowhere: the symbolic link leads nowhere; fix or remove the link\n", code: 66)
  }

  @Test func whatIsInTheBackupsOwnLogIsRestored() throws {
    try folder.crash("backup", "UPDATE entry SET value = 'in its log'")
    try folder.must("restore", "backup", "m")
    for file in ["m", "backup"] { try folder.expect("get", file, "k", prints: "in its log\n") }
  }

  @Test func anApplicationRestoresByTheLibrary() throws {
    try Device.restore(at: folder.url("m"), from: folder.url("backup"))
    try folder.expect("get", "m", "k", prints: "old\n")
    let device = try Device(at: folder.url("m"), backups: .never)
    expectError(.locked) { try Device.restore(at: folder.url("m"), from: folder.url("backup")) }
    #expect(!device.isReadOnly)
  }
}
