// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CSQLite
import Faults
import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import Synchronization
import TestSupport

struct CheckpointCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkpoint",
    abstract: "Writes to a device, and watches each page below SQLite, or each statement.",
    discussion: """
      Tasks:

        watch         N sets, a merge, a compaction, a backup and a clone; prints
                      "checkpoints C, unlocked writes U"
        watch-sqlite  the same sets, with SQLite's own checkpoints
        overtake      tries to commit by another connection in the middle of
                      the first checkpoint of N sets; prints the result code
        sets          N sets
        open          opens the file, as a later version does, at the end of its
                      input; prints the number of statements, and of
                      migrations that were applied
        kill          the same, and kills itself at statement N
      """,
    shouldDisplay: false)

  enum WatchedTask: String, CaseIterable, ExpressibleByArgument {
    case watch, overtake, sets, open, kill
    case watchSQLite = "watch-sqlite"
  }

  @Argument var file: String
  @Argument(help: "A task.") var task: WatchedTask
  @Argument(help: "N.") var count: Int

  func run() throws {
    switch task {
    case .open: try open(killingAt: .max)
    case .kill: try open(killingAt: count)
    case .sets:
      let device = try Device(path: file)
      for number in 0..<count { try set(device, number) }
    case .watch, .watchSQLite, .overtake:
      let writes = WriteWatch()
      FileSystemCalls.watch(writes)
      switch task {
      case .watch: try watch()
      case .overtake: try overtake(writes)
      default: try watchSQLite()
      }
      say("checkpoints \(writes.checkpoints), unlocked writes \(writes.unlocked)")
    }
  }

  private func open(killingAt number: Int) throws {
    StatementCounter.count(killingAt: number)
    while readLine() != nil {}
    _ = try LaterVersion.open(file)
    say("statements \(StatementCounter.all), migrations \(StatementCounter.migrations)")
  }

  private func set(_ device: Device, _ number: Int) throws {
    let key = "k\(number % 5000)"
    try device.write([LocalWrite(store: "cloud", key: key, value: .string("value \(number)"))])
  }

  private func watch() throws {
    let device = try Device(path: file)
    for number in 0..<count { try set(device, number) }
    let (other, third) = (try Device(path: file + ".other"), try Device.temporary())
    for number in 0..<count { try set(other, number) }
    try device.merge(with: other, third)
    try device.compact()
    try device.backup(to: URL(fileURLWithPath: file + ".copy"))
    try device.clone(to: file + ".clone")
    let reader = try Device(path: file, access: .readOnly)
    _ = try reader.entry(store: "cloud", key: "k1")
  }

  private func watchSQLite() throws {
    let device = try Device(path: file)
    device.storageForTests.checkpoints?.limit(to: .max / 8)
    try device.tables.access { connection in
      try connection.run("PRAGMA wal_autocheckpoint = 1000")
    }
    for number in 0..<count { try set(device, number) }
  }

  /// Tries to commit by another connection in the middle of a checkpoint.
  private func overtake(_ watch: WriteWatch) throws {
    let device = try Device(path: file)
    var other: OpaquePointer?
    sqlite3_open(file, &other)
    sqlite3_exec(other, "PRAGMA wal_autocheckpoint = 0", nil, nil, nil)
    let connection = UInt(bitPattern: other)
    // It is read after the vacuum, which waits for the checkpoint's write lock.
    let overtaken = Mutex<Int32?>(nil)
    watch.atNextWrite {
      let code = sqlite3_exec(
        OpaquePointer(bitPattern: connection), "DELETE FROM entry", nil, nil, nil)
      overtaken.withLock { $0 = code }
    }
    for number in 0..<count { try set(device, number) }
    try device.storageForTests.vacuum()
    let code = overtaken.withLock { $0 }
    say("another commit meanwhile: \(code.map(String.init) ?? "no checkpoint")")
    sqlite3_close(other)
  }
}
