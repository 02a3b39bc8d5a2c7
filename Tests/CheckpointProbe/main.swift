// SPDX-License-Identifier: Apache-2.0
//
// Works on a device while a layer below SQLite watches each page that is written.
//
//   checkpoint-probe FILE watch N         N sets, a merge, a compaction, a backup, a clone; prints
//                                         "checkpoints C, unlocked writes U"
//   checkpoint-probe FILE watch-sqlite N  the same sets, with SQLite's own checkpoints
//   checkpoint-probe FILE overtake N      tries to commit by another connection in the middle of
//                                         the first checkpoint of N sets; prints the result code
//   checkpoint-probe FILE sets N          the microseconds that N sets take: p50, p99, longest
//   checkpoint-probe FILE sets-sqlite N   the same, with SQLite's own checkpoints
//   checkpoint-probe FILE open 0          opens the file at the end of its input; prints how many
//                                         statements that took and how many migrations were applied
//   checkpoint-probe FILE kill N          the same, and kills itself at the Nth statement

import Faults
import Foundation
import GRDBSQLite
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import Synchronization

func set(_ device: Device, _ number: Int) throws {
  let key = "k\(number % 5000)"
  try device.write([LocalWrite(store: "cloud", key: key, value: .string("value \(number)"))])
}

func leaveToSQLite(_ device: Device) throws {
  device.core.storage.checkpoints?.limit(to: .max / 8)
  try device.core.access { connection in
    try connection.run("PRAGMA wal_autocheckpoint = 1000")
  }
}

func watch(_ path: String, _ count: Int) throws {
  let device = try Device(path: path)
  for number in 0..<count { try set(device, number) }
  let (other, third) = (try Device(path: path + ".other"), try Device.temporary())
  for number in 0..<count { try set(other, number) }
  try device.merge(with: other, third)
  try device.compact()
  try device.backup(to: URL(fileURLWithPath: path + ".copy"))
  try device.clone(to: path + ".clone")
  let reader = try Device(path: path, access: .readOnly)
  _ = try reader.entry(store: "cloud", key: "k1")
}

/// Tries to commit by another connection in the middle of a checkpoint.
func overtake(_ path: String, _ count: Int, _ watch: WriteWatch) throws {
  let device = try Device(path: path)
  var other: OpaquePointer?
  sqlite3_open(path, &other)
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
  try device.core.storage.vacuum()
  let code = overtaken.withLock { $0 }
  print("another commit meanwhile: \(code.map(String.init) ?? "no checkpoint")")
  sqlite3_close(other)
}

func measure(_ device: Device, _ count: Int) throws {
  let clock = ContinuousClock()
  var times = try (0..<count).map { number in
    try clock.measure { try set(device, number) } / .microseconds(1)
  }
  times.sort()
  let figures = [times[count / 2], times[count * 99 / 100], times[count - 1]]
  let text = figures.map { String(format: "%.0f", $0) }.joined(separator: ", ")
  print("p50, p99, longest µs: \(text)")
}

let words = Array(CommandLine.arguments.dropFirst())
let (path, count) = (words[0], Int(words[2]) ?? 0)
if words[1] == "open" || words[1] == "kill" {
  Statements.count(killingAt: words[1] == "kill" ? count : .max)
  while readLine() != nil {}
  _ = try Device(path: path)
  print("statements \(Statements.all), migrations \(Statements.migrations)")
} else if words[1].hasPrefix("sets") {
  let device = try Device(path: path)
  if words[1] == "sets-sqlite" { try leaveToSQLite(device) }
  try measure(device, count)
} else {
  let writes = WriteWatch()
  FileSystemCalls.watch(writes)
  switch words[1] {
  case "watch": try watch(path, count)
  case "overtake": try overtake(path, count, writes)
  default:
    let device = try Device(path: path)
    try leaveToSQLite(device)
    for number in 0..<count { try set(device, number) }
  }
  print("checkpoints \(writes.checkpoints), unlocked writes \(writes.unlocked)")
}
