// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeStorage
import KeepsakeValues
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
  func whatNobodyWroteSinceIsBroughtInAtTheNextOpening(_ suffixes: [String]) throws {
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
    #expect(try folder.must("get", "a", "held") == "1\n")
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
    #expect(try folder.must("get", "a", "old") == "other\n")
    #expect(try keys() == ["old"])
  }

  @Test func theProcessThatHoldsARemovedLogIsNamed() throws {
    let device = try Device(path: path)
    try write(device, "first")
    #expect(LostLog.users(of: path).isEmpty)
    try remove(["-wal"])
    #expect(LostLog.users(of: path) == [Int(getpid())])
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

  @Test func otherFilesInTheFolderDisturbNoWrite() throws {
    let device = try Device(path: path)
    for number in 0..<20 {
      try folder.write("", to: "other\(number)")
      try write(device, "k\(number)")
    }
  }

  // MARK: - What was saved, and the device's successor

  /// A device that holds `first`, and a file beside it with what else a removed log held.
  private func saveLog() throws -> String {
    try folder.must("set", "a", "first", "1")
    let device = try Device(path: path)
    try write(device, "later")
    try remove(["-wal", "-shm"])
    #expect(throws: KeepsakeError.self) { try write(device, "refused") }
    return try #require(LostLog.all(of: path).first)
  }

  @Test func aRestoredDeviceHoldsWhatTheBackupHeld() throws {
    try folder.must("set", "a", "first", "1")
    let backup = folder.path + "/backup"
    try Device(path: path).backUp(to: backup)
    _ = try saveLog()
    try Device.restore(at: path, from: backup, clock: .system)
    #expect(try keys() == ["first"])
    #expect(try folder.names() == ["a", "backup"])
  }

  @Test(.enabled(if: KillPoint.isPossible, KillPoint.need))
  func aKilledRestoreLeavesTheDeviceWithWhatWasSavedOrTheBackup() throws {
    try folder.must("set", "a", "first", "1")
    try Device(path: path).backUp(to: folder.path + "/backup")
    do {
      let device = try Device(path: path)
      try write(device, "later")
      try remove(["-wal", "-shm"])
      try folder.must("set", "a", "other", "1")
    }
    // Moves the log of the other process into the file, and leaves what was saved.
    try folder.shell("sqlite3", "a", "SELECT count(*) FROM entry")
    try #require(LostLog.all(of: path).count == 1)
    try folder.shell("sh", "-c", "mkdir old; cp a a.* old")
    func restore(_ environment: [String]) throws -> Ending {
      try folder.shell("sh", "-c", "rm -rf a a.* a-*; cp old/* .")
      return try Command.run(
        Command.find("env"), environment + [Command.kvsync.get(), "restore", "backup", "a"],
        in: folder.path)
    }
    let points = try KillPoint.points { words in
      let ending = try restore(words)
      #expect(ending.code == 0, "\(ending)")
    }
    var seen: Set<Set<String>> = []
    for point in points {
      #expect(try restore(KillPoint.environment(at: point)).code == 128 + SIGKILL)
      let keys = try keys()
      #expect([["first"], ["first", "later", "other"]].contains(keys), "point \(point)")
      seen.insert(keys)
    }
    #expect(seen.count == 2)
  }

  @Test func aRestoreThatCannotRemoveWhatWasSavedLeavesTheDevice() throws {
    try folder.must("set", "a", "first", "1")
    let backup = folder.path + "/backup"
    try Device(path: path).backUp(to: backup)
    try folder.must("set", "a", "second", "1")
    let saved = path + ".lost-log-0123456789abcdef"
    try FileManager.default.createDirectory(atPath: saved, withIntermediateDirectories: false)
    let error = #expect(throws: KeepsakeError.self) {
      try Device.restore(at: path, from: backup, clock: .system)
    }
    #expect(error?.path == saved, "\(error as Any)")
    try FileManager.default.removeItem(atPath: saved)
    #expect(try keys() == ["first", "second"])
    #expect(try folder.names() == ["a", "backup"])
  }

  @Test func whatWasSavedOfADamagedDeviceStaysWithIt() throws {
    let saved = try saveLog()
    let whole = try Data(contentsOf: folder.url("a"))
    var generator = SeededGenerator(seed: 1)
    try PageDamage.ones.apply(to: 1, of: whole, using: &generator).write(to: folder.url("a"))
    let aside = try Device.recover(at: folder.url("a")) { _ in .startEmpty }
    #expect(LostLog.all(of: path) == [])
    #expect(LostLog.all(of: try #require(aside).path).count == 1)
    #expect(try keys() == [])
    #expect(!FileManager.default.fileExists(atPath: saved))
  }

  @Test func aDeviceIsSoundThoughWhatWasSavedBesideItIsDamaged() throws {
    let saved = try saveLog()
    try Data("nothing".utf8).write(to: URL(fileURLWithPath: saved))
    let error = #expect(throws: KeepsakeError.self) {
      try Device.recover(at: folder.url("a")) { _ in
        Issue.record("the device is sound")
        return .giveUp
      }
    }
    #expect(error?.code == .foreignLog, "\(error as Any)")
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
