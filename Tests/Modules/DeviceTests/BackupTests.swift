// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct BackupTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/device.keepsake" }
  private var url: URL { URL(fileURLWithPath: path) }
  private static let day: Int64 = 86_400_000

  init() throws {
    folder = try TemporaryFolder()
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  private func write(_ device: Device, _ value: StoredValue) throws {
    try device.write([LocalWrite(store: "cloud", key: "k", value: value)])
  }

  private func value(in url: URL) throws -> StoredValue? {
    try Device(path: url.path, access: .readOnly).entry(store: "cloud", key: "k")?.content.value
  }

  @Test func theLastTwoDaysAreKept() throws {
    let clock = ManualClock(milliseconds: 1_795_219_200_000)
    do {
      let device = try Device(path: path, backups: .daily, clock: clock.wallClock)
      for value in 1...4 {
        try write(device, .integer(Int64(value)))
        try device.backUpToday()
        try write(device, 0)
        try device.backUpToday()
        clock.milliseconds += Self.day
      }
    }
    let backups = try Device.backups(of: url)
    #expect(backups.map(\.day) == ["2026-11-24", "2026-11-23"])
    #expect(try backups.map { try value(in: $0.url) } == [4, 3])
    #expect(try names().count == 3)
  }

  @Test func aClockThatWasAheadCostsNoBackup() throws {
    let clock = ManualClock(milliseconds: 1_795_219_200_000)
    let device = try Device(path: path, backups: .daily, clock: clock.wallClock)
    for days in [400, 0, 1, 2] as [Int64] {
      clock.milliseconds = 1_795_219_200_000 + days * Self.day
      try device.backUpToday()
    }
    #expect(
      try Device.backups(of: url).map(\.day) == ["2027-12-26", "2026-11-23", "2026-11-22"])
  }

  @Test func aDamagedDeviceIsNotCopiedOverSoundBackups() throws {
    let clock = ManualClock(milliseconds: 1_795_219_200_000)
    do {
      let device = try Device(path: path, clock: clock.wallClock)
      try device.transaction {
        for key in 0..<500 {
          try device.write([LocalWrite(store: "cloud", key: "k\(key)", value: "value")])
        }
      }
      try device.backUpToday()
    }
    let handle = try FileHandle(forUpdating: url)
    try handle.seek(toOffset: handle.seekToEnd() / 2)
    try handle.write(contentsOf: Data(repeating: 0xff, count: 2048))
    try handle.close()
    clock.milliseconds += Self.day
    let device = try Device(path: path, clock: clock.wallClock)
    expectError(.corrupt) { try device.backUpToday() }
    #expect(try Device.backups(of: url).map(\.day) == ["2026-11-21"])
    #expect(try !names().contains { $0.contains(".new-") })
  }

  @Test func aBackupOfAnOpenDeviceHoldsWhatWasCommitted() throws {
    let device = try Device(path: path)
    try write(device, 1)
    let copy = URL(fileURLWithPath: folder.path + "/copy.keepsake")
    try device.backup(to: copy)
    try write(device, 2)
    #expect(try value(in: copy) == 1)
    #expect(try Device(path: copy.path).replica() == device.replica())
    expectError(.cannotCreate) { try device.backup(to: copy) }
    #expect(try value(in: copy) == 1)
  }

  @Test(arguments: [BackupPolicy.never, .daily])
  func toolsMakeNoBackupsAndApplicationsDo(policy: BackupPolicy) throws {
    let device = try Device(path: path, backups: policy)
    device.backUpDaily { Issue.record($0) }
    Background.wait()
    #expect(try Device.backups(of: url).isEmpty == (policy == .never))
  }

  @Test(arguments: [true, false])
  func aDamagedFileIsPutAsideAndReplaced(isRestored: Bool) throws {
    do {
      let device = try Device(path: path)
      try write(device, 1)
      try device.backUpToday()
      try write(device, 2)
    }
    try Data("damaged".utf8).write(to: url)
    #expect(throws: KeepsakeError.self) { try Device(path: path) }
    let aside = try Device.recover(at: url) { damage in
      #expect(damage.backups.count == 1)
      #expect(damage.error.code == .notKeepsake || damage.error.code == .corrupt)
      #expect(throws: KeepsakeError.self) { try Device(path: path) }
      return try isRestored ? .restore(#require(damage.backups.first)) : .startEmpty
    }
    #expect(try Data(contentsOf: #require(aside)) == Data("damaged".utf8))
    #expect(try value(in: url) == (isRestored ? 1 : nil))
    #expect(try Device.recover(at: url) { _ in .giveUp } == nil)
    #expect(try !names().contains { $0.hasSuffix(".recovery") || $0.contains(".new-") })
  }

  @Test func givingUpOrThrowingLeavesEveryFileAsItWas() throws {
    try Data("damaged".utf8).write(to: url)
    struct Refused: Error {}
    #expect(throws: KeepsakeError.self) { try Device.recover(at: url) { _ in .giveUp } }
    #expect(throws: Refused.self) { try Device.recover(at: url) { _ in throw Refused() } }
    #expect(try names() == ["device.keepsake"])
    #expect(try Data(contentsOf: url) == Data("damaged".utf8))
  }

  @Test func aMissingFileAndASoundOneAreNoDamage() throws {
    let aside = try Device.recover(at: url) { _ in
      Issue.record("nothing is damaged")
      return .startEmpty
    }
    #expect(try aside == nil && names() == [])
    _ = try Device(path: path)
    #expect(try Device.recover(at: url) { _ in .startEmpty } == nil)
    #expect(try names() == ["device.keepsake"])
  }

  @Test(arguments: ["notes of its owner", "../elsewhere", ".corrupt-/etc/passwd"])
  func aFileOfAnothersIsNoMark(text: String) throws {
    try Data("damaged".utf8).write(to: url)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path + ".recovery"))
    expectError(.cannotCreate) { try Device.recover(at: url) { _ in .giveUp } }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".recovery")) == Data(text.utf8))
  }

  @Test func aLogStaysWithTheDamagedFile() throws {
    for suffix in ["", "-wal", "-shm"] {
      try Data("damaged\(suffix)".utf8).write(to: URL(fileURLWithPath: path + suffix))
    }
    let aside = try #require(try Device.recover(at: url) { _ in .startEmpty })
    let name = aside.lastPathComponent
    #expect(try names().sorted() == ["device.keepsake", name, name + "-wal"])
    #expect(try Data(contentsOf: aside) == Data("damaged".utf8))
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: aside.path + "-wal")) == Data("damaged-wal".utf8))
  }

  @Test func aUserWhoMayReadTheFolderMayLockTheMark() throws {
    try Data("damaged".utf8).write(to: url)
    let aside = try Device.recover(at: url) { _ in
      let mark = try FileManager.default.attributesOfItem(atPath: path + ".recovery")
      // The umask of the tests takes away what it takes away.
      #expect(((mark[.posixPermissions] as? Int) ?? 0) & ~0o644 == 0 && mark[.size] as? Int == 0)
      return .startEmpty
    }
    #expect(aside != nil)
  }

  @Test func aMarkThatWasLeftBesideAFileGoesWithTheNextRecovery() throws {
    try Data("damaged".utf8).write(to: url)
    try Data().write(to: URL(fileURLWithPath: path + ".recovery"))
    #expect(throws: KeepsakeError.self) { try Device.recover(at: url) { _ in .giveUp } }
    #expect(try names() == ["device.keepsake"])
  }

  @Test func aLinkLeadsToTheFileThatIsRecovered() throws {
    do { try Device(path: path).backUpToday() }
    try Data("damaged".utf8).write(to: url)
    let other = try TemporaryFolder()
    let link = URL(fileURLWithPath: other.path + "/link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
    let aside = try Device.recover(at: link) { damage in
      #expect(throws: KeepsakeError.self) { try Device(at: link) }
      return .restore(try #require(damage.backups.first))
    }
    #expect(
      aside?.deletingLastPathComponent().lastPathComponent
        == url.deletingLastPathComponent().lastPathComponent)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == path)
    #expect(throws: Never.self) { try Device(path: path, access: .existing) }
  }

  @Test func aFileWithALongNameCanBeOpened() throws {
    let long = folder.path + "/" + String(repeating: "n", count: 249)
    do { _ = try Device(path: path) }
    try FileManager.default.moveItem(atPath: path, toPath: long)
    #expect(throws: Never.self) { try Device(path: long, access: .existing) }
  }
}
