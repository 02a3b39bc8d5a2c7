// SPDX-License-Identifier: Apache-2.0
//
// An observer of a large store knows the values of the moment when it was added.

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct LargeScopeTests {
  private let folder: TemporaryFolder
  private let path: String
  private let heard = Heard()

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/device.keepsake"
    let writes = (0..<1000).map { LocalWrite(store: "local", key: "key\($0)", value: 0) }
    try Device(path: path).write(writes + [LocalWrite(store: "other", key: "k", value: 0)])
  }

  private func lines(_ changes: [SettingChange]) -> [String] {
    changes.map { "\($0.key) \($0.old.shown) \($0.new.shown)" }.sorted()
  }

  @Test func itsOldValuesAreThoseOfTheSnapshotWhateverIsWrittenBeforeTheyAreRead() throws {
    let device = try Device(path: path)
    var token: ObservationToken?
    try device.shared.whileNothingIsRead {
      token = heard.observe(device, store: "local")
      try device.write([
        LocalWrite(store: "local", key: "key3", value: 2),
        LocalWrite(store: "local", key: "new", value: 3),
        LocalWrite(store: "local", key: "key4", value: nil),
      ])
      try device.shell(
        """
        UPDATE entry SET value = 1 WHERE key = 'key1'; DELETE FROM entry WHERE key = 'key2';
        UPDATE entry SET value = 5 WHERE key = 'key3';
        """)
      try device.write([LocalWrite(store: "local", key: "key5", value: 7)])
    }
    #expect(heard.wait { $0.count == 7 })
    #expect(
      heard.sets.map(lines) == [
        ["key3 0 2", "key4 0 -", "new - 3"], ["key1 0 1", "key2 0 -", "key3 2 5"], ["key5 0 7"],
      ])
    token?.cancel()
  }

  @Test func valuesThatWereWrittenForAnEndedObserverAreKnownToTheNextOne() throws {
    let device = try Device(path: path)
    let first = Heard().observe(device, store: "other")
    var third: ObservationToken?
    try device.shared.whileNothingIsRead {
      let second = heard.observe(device, store: "local")
      try device.write([LocalWrite(store: "local", key: "key3", value: 2)])
      second.cancel()
      try device.write([
        LocalWrite(store: "local", key: "key3", value: 3),
        LocalWrite(store: "local", key: "key4", value: nil),
      ])
      third = heard.observe(device, store: "local")
    }
    try device.shell(
      "UPDATE entry SET value = 5 WHERE key = 'key3'; DELETE FROM entry WHERE key = 'key6'")
    #expect(heard.wait { lines($0) == ["key3 0 2", "key3 3 5", "key6 0 -"] })
    third?.cancel()
    first.cancel()
  }

  @Test func observersOfOneStoreShareItsValues() throws {
    let device = try Device(path: path)
    func connections() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
        // The descriptor of this very listing is closed by now.
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/" + name)
        return target == path
      }
    }
    var tokens: [ObservationToken] = []
    try device.shared.whileNothingIsRead {
      let before = try connections()
      for _ in 0..<50 { tokens.append(heard.observe(device, store: "local")) }
      #expect(try connections() == before + 1)
      try device.shell("UPDATE entry SET value = 5 WHERE key = 'key3'")
    }
    #expect(heard.wait { $0.count == 50 && lines($0).allSatisfy { $0 == "key3 0 5" } })
    tokens.forEach { $0.cancel() }
  }

  @Test func anObserverWithinAReadOnlyTransactionGetsWhatItsReadsDoNotShow() throws {
    let device = try Device(path: path, access: .readOnly)
    var token: ObservationToken?
    try device.transaction {
      #expect(try device.entry(store: "local", key: "key1")?.content.value == 0)
      try device.shell("UPDATE entry SET value = 1 WHERE key = 'key1'")
      token = heard.observe(device, store: "local")
      #expect(try device.entry(store: "local", key: "key1")?.content.value == 0)
    }
    #expect(heard.wait { lines($0) == ["key1 0 1"] })
    token?.cancel()
  }

  @Test func aSnapshotThatAnErrorHasEndedIsNotReadOn() throws {
    let device = try Device(path: path)
    let snapshot = try #require(device.storageForTests.snapshot())
    try snapshot.read { try $0.run("ROLLBACK") }
    #expect(throws: KeepsakeError.self) { try snapshot.read { _ in } }
  }

  @Test func anObserverThatEndsLeavesTheValuesToTheOtherOnesOfItsStore() throws {
    let device = try Device(path: path)
    let first = heard.observe(device, store: "local")
    try device.shell("UPDATE entry SET value = 1 WHERE key = 'key7'")
    #expect(heard.wait { lines($0) == ["key7 0 1"] })
    let second = heard.observe(device, store: "local")
    first.cancel()
    try device.shell("UPDATE entry SET value = 2 WHERE key IN ('key7', 'key8')")
    #expect(heard.wait { lines($0) == ["key7 0 1", "key7 1 2", "key8 0 2"] })
    second.cancel()
  }

  @Test func anObserverThatEndsAtOnceLeavesNoConnection() throws {
    for _ in 0..<20 {
      let device = try Device(path: path)
      heard.observe(device).cancel()
      try #require(FileManager.default.fileExists(atPath: path + "-wal"))
      withExtendedLifetime(device) {}
    }
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
  }
}

extension StoredValue? {
  fileprivate var shown: String { self.map { "\($0)" } ?? "-" }
}
