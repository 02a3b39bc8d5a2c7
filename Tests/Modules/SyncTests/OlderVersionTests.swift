// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeMigrations
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// Files as earlier versions left them: `Tests/Data/Fixtures/V001.sqlite` is one of version 1, and
/// `V002.sqlite` the same after version 2 has opened it.
@Suite struct OlderVersionTests {
  private static let fixtures = Checkout.root.appendingPathComponent("Tests/Data/Fixtures")

  private let folder: TemporaryFolder
  private let clock = ManualClock()

  init() throws {
    folder = try TemporaryFolder()
    // A day after the files were made.
    clock.milliseconds = 1_793_620_800_000
  }

  private func copy(_ version: Int) throws -> String {
    let path = folder.path + "/old.keepsake"
    let name = "V" + String(repeating: "0", count: 3 - "\(version)".count) + "\(version).sqlite"
    try FileManager.default.copyItem(
      atPath: Self.fixtures.appendingPathComponent(name).path, toPath: path)
    return path
  }

  private func open(_ path: String, _ access: Device.Access = .existing) throws -> Device {
    try Device(path: path, access: access, clock: clock.wallClock)
  }

  private func values(_ device: Device, _ store: String) throws -> [String: StoredValue] {
    var values: [String: StoredValue] = [:]
    try device.forEachEntry {
      if $0.address.store.string == store { values[$0.address.key.string] = $0.content.value }
    }
    return values
  }

  private func expectAll(_ device: Device) throws {
    let cloud = try values(device, "cloud")
    #expect(cloud.count == 9)
    #expect(cloud["theme"] == "dark")
    #expect(cloud["k.integer"] == 42)
    #expect(cloud["k.real"] == 2.5)
    #expect(cloud["k.boolean"] == true)
    #expect(cloud["k.data"] == .data(Data("hello".utf8)))
    #expect(cloud["k.array"] == .array([1, "zwei", .dictionary(["drei": 3])]))
    #expect(cloud["newer"]?.kind == .opaque)
    #expect(try device.entry(store: "cloud", key: "gone")?.content.isTombstone == true)
    #expect(try values(device, "cloud:work") == ["volume": 3])
  }

  @Test func thereIsAFileOfEveryShippedVersionButThePresentOne() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.fixtures.path)
    #expect(names.count { $0.hasSuffix(".sqlite") } == Migrations.version - 1)
  }

  @Test(arguments: 1..<Migrations.version)
  func anOlderFileIsMigratedBeforeItSyncs(version: Int) throws {
    let path = try copy(version)
    let device = try open(path)
    try expectAll(device)
    #expect(try values(device, "defaults") == ["local": "only"])
    #expect(try device.examine().map(\.kind) == [.held])
    #expect(try device.conflicts().map(\.lost) == ["light"])
    let applied = try device.core.access { connection in
      try connection.all("SELECT identifier FROM grdb_migrations") { $0.text(0) }
    }
    #expect(applied == Migrations.all.map(\.identifier))
    let other = try Device.inMemory(clock: clock.wallClock)
    let report = try device.merge(with: other)
    #expect(report.events.isEmpty)
    try expectAll(other)
    #expect(try values(other, "defaults").isEmpty)
  }

  @Test(arguments: 1..<Migrations.version)
  func anOlderFileThatIsOnlyReadStaysAsItIs(version: Int) throws {
    let path = try copy(version)
    let other = try Device.inMemory(clock: clock.wallClock)
    do {
      let device = try open(path, .readOnly)
      try expectAll(device)
      var generator = SeededGenerator(seed: 1)
      _ = try Merge.run(
        [device, other], options: MergeOptions(isOneWay: true), using: &generator)
    }
    try expectAll(other)
    let shell = try Command.run(
      Command.find("sqlite3"), [path, "SELECT count(*) FROM grdb_migrations"], in: folder.path)
    #expect(shell.stdout == "\(version)\n")
  }
}
