// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeMigrations
import KeepsakeStorage
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

/// A file beside an open device is removed, as by a cleaner or a backup tool.
@Suite struct RemovedLogTests {
  static let removals = [["-shm"], ["-wal"], ["-wal", "-shm"]]
  /// What a process does between its opening and its closing; the removal comes before one of them.
  static let steps = 4

  private let folder: Folder
  private var path: String { folder.path + "/a" }

  init() throws { folder = try Folder() }

  private func remove(_ suffixes: [String]) throws {
    for suffix in suffixes {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  private func write(_ device: Device, _ key: String, store: String = "cloud") throws {
    try device.write([LocalWrite(store: store, key: key, value: 1)])
  }

  private func keys() throws -> Set<String> {
    try folder.mergeSavedLogs()
    let device = try Device(path: path)
    return Set(try device.values(store: "cloud").keys.map(\.string))
  }

  /// At each point between opening and closing; the second process comes after each removal.
  @Test(arguments: removals, 0...steps)
  func noAcknowledgedWriteIsLost(_ suffixes: [String], at place: Int) throws {
    var acknowledged: Set<String> = ["first"]
    do {
      let device = try Device(path: path)
      try write(device, "first")
      for step in 0...Self.steps {
        if step == place {
          try remove(suffixes)
          // Without the log alone, SQLite's index leads nowhere, and other processes fail to read.
          let ending = try folder.run(["set", "a", "other\(step)", "1"])
          #expect(ending.code == (suffixes == ["-wal"] ? 74 : 0), "\(ending)")
          if ending.code == 0 { acknowledged.insert("other\(step)") }
        }
        do throws(KeepsakeError) {
          try device.write([LocalWrite(store: "cloud", key: "own\(step)", value: 1)])
          #expect(step < place)
          acknowledged.insert("own\(step)")
        } catch {
          let isKnown = error.problem.contains("was removed while it was open")
          #expect(step >= place && isKnown, "\(error)")
        }
      }
    }
    #expect(try keys() == acknowledged)
    #expect(try folder.names() == ["a"])
  }

  /// Deleting the file deletes everything that its log holds too.
  @Test(arguments: [[""], ["", "-wal"], ["", "-wal", "-shm"]], 0...steps)
  func noWriteToADeletedFileIsAcknowledged(_ suffixes: [String], at place: Int) throws {
    var acknowledged: Set<String> = []
    do {
      let device = try Device(path: path)
      for step in 0...Self.steps {
        if step == place {
          try remove(suffixes)
          // A file is not made beside a log that holds another one's writes.
          let ending = try folder.run(["set", "a", "other", "1"])
          #expect(ending.code == (suffixes == [""] && place > 0 ? 73 : 0), "\(ending)")
          if ending.code == 0 { acknowledged.insert("other") }
        }
        if step < place {
          try write(device, "own\(step)")
        } else {
          let error = #expect(throws: KeepsakeError.self) { try write(device, "own\(step)") }
          #expect(error?.problem == "the file was deleted or replaced while it was open")
        }
      }
    }
    if suffixes == [""] { try remove(["-wal"]) }
    #expect(try keys() == acknowledged)
    #expect(try folder.names() == ["a"])
  }

  @Test(arguments: removals)
  func aLogWithoutLaterWritesIsSavedToo(_ suffixes: [String]) throws {
    do {
      let device = try Device(path: path)
      try write(device, "first")
      try remove(suffixes)
    }
    #expect(try keys() == ["first"])
    #expect(try folder.names() == ["a"])
  }

  @Test func whatAFailedWriteHasSavedSurvivesAProcessThatIsKilled() throws {
    try folder.must("set", "a", "first", "1")
    let device = try Device(path: path)
    try write(device, "held")
    try remove(["-wal", "-shm"])
    #expect(throws: KeepsakeError.self) { try write(device, "refused") }
    // The process has the device open still, and does nothing more.
    try folder.must("set", "a", "other", "1")
    try folder.mergeSavedLogs()
    for key in ["first", "held", "other"] { #expect(try folder.must("get", "a", key) == "1\n") }
    withExtendedLifetime(device) {}
  }

  @Test func theLaterWriteOfAKeyCounts() throws {
    do {
      let device = try Device(path: path, clock: .fixed(Date(timeIntervalSince1970: 1_000)))
      for key in ["old", "gone"] { try write(device, key) }
      try remove(["-wal", "-shm"])
      try folder.must("set", "a", "old", "other")
      try folder.must("set", "a", "gone", "other")
      try folder.must("delete", "a", "gone")
    }
    #expect(try keys() == ["old"])
    #expect(try folder.must("get", "a", "old") == "other\n")
  }

  @Test func whatIsSavedOfARemovedLogIsItsOwnersAlone() throws {
    let device = try Device(path: path)
    try write(device, "first")
    try remove(["-wal"])
    #expect(throws: KeepsakeError.self) { try write(device, "second") }
    let saved = try #require(LostLog.all(of: path).first)
    let mode = try FileManager.default.attributesOfItem(atPath: saved)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func openingADeviceWhoseLogThisProcessHasLostIsRefused() throws {
    let device = try Device(path: path)
    try write(device, "first")
    try remove(["-shm"])
    for access in [Device.Access.existing, .readOnly] {
      #expect(throws: KeepsakeError.self) { try Device(path: path, access: access) }
    }
    withExtendedLifetime(device) {}
  }

  /// The failure comes after SQLite has opened the log, and before the names are looked at.
  @Test(arguments: removals, [true, false])
  func anOpeningThatFailsTouchesNoLogOfAnotherProcess(_ suffixes: [String], hasLog: Bool) throws {
    try folder.must("set", "a", "first", "1")
    if hasLog { try folder.crash(path, "UPDATE entry SET value = 'late'") }
    let place = folder.path
    let acknowledged = Mutex<Set<String>>(["first"])
    // In memory, where no file is, it succeeds.
    let migration = Migration(
      name: "V002_overflow", hash: String(repeating: "2", count: 64),
      sql: "CREATE TABLE more (x); INSERT INTO more SELECT abs(-9223372036854775808) FROM entry;")
    let hooks = OpeningHooks(
      beforeMigrating: {
        #expect(throws: Never.self) {
          for suffix in suffixes {
            try FileManager.default.removeItem(atPath: place + "/a" + suffix)
          }
          let ending = try Command.run(
            Command.kvsync.get(), ["set", "a", "other", "1", "--busy-timeout", "0ms"], in: place)
          if ending.code == 0 { _ = acknowledged.withLock { $0.insert("other") } }
        }
      }, migrations: Migrations.all + [migration])
    expectError(.inputOutput) { try Device(path, hooks: hooks) }
    #expect(try keys() == acknowledged.withLock { $0 })
    #expect(try folder.names() == ["a"])
    try Device(path: path).checkIntegrity()
  }

  @Test func otherFilesInTheFolderDisturbNoWrite() throws {
    let device = try Device(path: path)
    for number in 0..<20 {
      try folder.write("", to: "other\(number)")
      try write(device, "k\(number)")
    }
  }

  @Test func whereAClosingHasSavedALogIsReported() throws {
    try folder.must("set", "a", "first", "1")
    let watch = try RunningCommand(watching: "a", in: folder)
    try folder.must("set", "a", "second", "1")
    try remove(["-wal", "-shm"])
    let ending = watch.end()
    let saved = try #require(LostLog.all(of: path).first)
    #expect(ending.stderr.contains("what that log held is in \(saved)"), "\(ending)")
    let name = URL(fileURLWithPath: saved).lastPathComponent
    let doctor = try folder.run(["doctor", "a"])
    let problem = "\(name) holds writes to a log that was removed"
    #expect(doctor.code == 1 && doctor.stdout.contains(problem), "\(doctor)")
    #expect(try keys() == ["first", "second"])
  }

  @Test func whatCannotBeSavedAtClosingIsReported() throws {
    // With what is added to it the name is too long.
    let name = String(repeating: "n", count: 235)
    try folder.must("set", "a", "first", "1")
    try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/" + name)
    let watch = try RunningCommand(watching: name, in: folder)
    try folder.must("set", name, "second", "1")
    for suffix in ["-wal", "-shm"] {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name + suffix)
    }
    let ending = watch.end()
    #expect(ending.stderr.contains("what only that log holds cannot be saved"), "\(ending)")
  }
}

extension Folder {
  /// Merges what was saved of removed logs of the device `a`, and removes the saved files.
  func mergeSavedLogs() throws {
    for saved in LostLog.all(of: path + "/a") {
      try must("merge", saved, "a")
      try FileManager.default.removeItem(atPath: saved)
    }
  }
}
