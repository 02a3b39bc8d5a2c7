// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeMigrations
import KeepsakeStorage
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

/// A file beside a device is removed in the middle of its opening or closing.
@Suite struct RemovedLogTimingTests {
  /// What another program and another process do.
  private struct Elsewhere: Sendable {
    let folder: String

    /// Removes files, and sets a key.
    ///
    /// - Parameter acknowledged: gets the key if that has succeeded.
    func replace(_ suffixes: [String], _ acknowledged: (String) -> Void) {
      #expect(throws: Never.self) {
        for suffix in suffixes {
          try FileManager.default.removeItem(atPath: folder + "/a" + suffix)
        }
        let ending = try Command.run(
          Command.kvsync.get(), ["set", "a", "other", "1", "--busy-timeout", "0ms"], in: folder)
        if ending.code == 0 { acknowledged("other") }
      }
    }
  }

  private let folder: Folder
  private let elsewhere: Elsewhere
  private var path: String { folder.path + "/a" }

  init() throws {
    folder = try Folder()
    elsewhere = Elsewhere(folder: folder.path)
  }

  private func write(_ device: Device, _ key: String) throws {
    try device.write([LocalWrite(store: "cloud", key: key, value: 1)])
  }

  private func keys() throws -> Set<String> {
    try folder.mergeSavedLogs()
    return Set(try Device(path: path).values(store: "cloud").keys.map(\.string))
  }

  /// Opens the device; tests let something come between.
  private func open(
    _ access: Device.Access = .existing, waiting limit: Duration = Device.defaultBusyTimeout,
    _ hooks: OpeningHooks
  ) throws(KeepsakeError) -> Device {
    try Device(
      path: path, access: access, busyTimeout: limit, clock: .system, folder: nil,
      identity: .random(), hooks: hooks)
  }

  @Test(arguments: RemovedLogTests.removals)
  func aLogThatIsRemovedWhileItIsClosedIsSaved(_ suffixes: [String]) throws {
    let acknowledged = Mutex<Set<String>>(["first"])
    do {
      let hooks = OpeningHooks(beforeClosing: { [elsewhere] in
        elsewhere.replace(suffixes) { key in _ = acknowledged.withLock { $0.insert(key) } }
      })
      try write(try open(.create, hooks), "first")
    }
    #expect(try keys() == acknowledged.withLock { $0 })
    #expect(try folder.names() == ["a"])
  }

  @Test func aLogIsNotMovedOverAnotherOneAfterAReaderHasGone() throws {
    let reader = Mutex<Device?>(nil)
    do {
      let hooks = OpeningHooks(beforeClosing: { [elsewhere] in
        guard reader.withLock({ $0 }) != nil else { return }
        reader.withLock { $0 = nil }
        elsewhere.replace(["-wal", "-shm"]) { _ in }
      })
      let device = try open(.create, hooks)
      try write(device, "first")
      let other = try Device(path: path, access: .readOnly)
      reader.withLock { $0 = other }
    }
    #expect(try keys() == ["first", "other"])
    #expect(try folder.names() == ["a"])
  }

  /// The failure comes after SQLite has opened the log, and before the names are looked at.
  @Test(arguments: RemovedLogTests.removals, [true, false])
  func anOpeningThatFailsTouchesNoLogOfAnotherProcess(_ suffixes: [String], hasLog: Bool) throws {
    try folder.must("set", "a", "first", "1")
    if hasLog { try folder.crash(path, "UPDATE entry SET value = 'late'") }
    let acknowledged = Mutex<Set<String>>(["first"])
    // In memory, where no file is, it succeeds.
    let migration = Migration(
      name: "V002_overflow", hash: String(repeating: "2", count: 64),
      sql: "CREATE TABLE more (x); INSERT INTO more SELECT abs(-9223372036854775808) FROM entry;")
    let hooks = OpeningHooks(
      beforeMigrating: { [elsewhere] in
        elsewhere.replace(suffixes) { key in _ = acknowledged.withLock { $0.insert(key) } }
      }, migrations: Migrations.all + [migration])
    let error = #expect(throws: KeepsakeError.self) { try open(.existing, hooks) }
    #expect(error?.code == .inputOutput)
    #expect(try keys() == acknowledged.withLock { $0 })
    #expect(try folder.names() == ["a"])
    try Device(path: path).checkIntegrity()
  }
}
