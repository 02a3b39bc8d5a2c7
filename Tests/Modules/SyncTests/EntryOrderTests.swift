// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct EntryOrderTests {
  private static func apply(_ entries: [Entry], into device: Device) throws {
    try device.tables.write { connection in
      var replica = try ReplicaState(connection)
      _ = try Incoming.apply(
        entries, of: Incoming.Giver(), connection, upTo: HybridTimestamp(rawValue: .max), &replica,
        at: 0
      ) { _, _ in }
      try replica.save(connection)
      return ((), [])
    }
  }

  @Test(arguments: Seeds.list(5))
  func aMergeKeepsTheOneThatWinsOfAnyTwo(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let pairs = (0..<300).map { _ in
      (SampleEntries.random(using: &generator), SampleEntries.random(using: &generator))
    }
    func renamed(_ entry: Entry, _ index: Int) -> Entry {
      Entry(
        Address(store: "cloud", key: "k\(index)"), entry.content, timestamp: entry.timestamp,
        replicaID: entry.replicaID)
    }
    let firsts = pairs.enumerated().map { renamed($1.0, $0) }
    let seconds = pairs.enumerated().map { renamed($1.1, $0) }
    let device = try Device.inMemory()
    try Self.apply(firsts, into: device)
    try Self.apply(seconds, into: device)
    for (a, b) in zip(firsts, seconds) {
      let kept = try device.entry(store: "cloud", key: a.address.key.string)
      if kept != (b.beats(a) ? b : a) {
        Issue.record("\(a) \(b) and not \(String(describing: kept)), seed \(seed)")
      }
    }
  }

  @Test func aDeletionLeavesATombstoneOnlyWhereItSyncs() throws {
    let device = try Device.inMemory()
    for store in ["defaults", "cloud"] {
      try device.write([LocalWrite(store: store, key: "k", value: 1)])
      let changes = try device.write([LocalWrite(store: store, key: "k", value: nil)])
      #expect(changes.map(\.old) == [1] && changes.map(\.new) == [nil])
    }
    #expect(try device.entry(store: "defaults", key: "k") == nil)
    #expect(try device.entry(store: "cloud", key: "k")?.content == .tombstone)
  }

  @Test(arguments: [("cloud", ""), ("", "k")])
  func anEmptyKeyOrStoreIsRefused(store: String, key: String) throws {
    let device = try Device.inMemory()
    expectError(.invalidKey) { try device.write([LocalWrite(store: store, key: key, value: 1)]) }
    #expect(try device.stores().isEmpty)
  }

  @Test func nothingOfABatchIsWrittenWhenOneWriteIsRefused() throws {
    let device = try Device.inMemory()
    #expect(throws: KeepsakeError.self) {
      try device.write([
        LocalWrite(store: "cloud", key: "a", value: 1),
        LocalWrite(store: "cloud", key: "", value: 1),
      ])
    }
    #expect(try device.entry(store: "cloud", key: "a") == nil)
  }

  @Test func whatNoOtherDeviceWouldTakeIsNotWritten() throws {
    let device = try Device.inMemory()
    let name = String(repeating: "k", count: 1024)
    try device.write([LocalWrite(store: name, key: name, value: 1)])
    for (store, key, what) in [
      (name + "k", "k", "store name of \(name.prefix(100))/k"),
      ("cloud", name + "k", "key of cloud/\(name.prefix(100))"),
    ] {
      let error = #expect(throws: KeepsakeError.self) {
        try device.write([LocalWrite(store: store, key: key, value: 1)])
      }
      #expect(error?.code == .invalidKey)
      let problem = "the \(what) has 1025 bytes, more than the limit of 1024"
      #expect(error?.description == "(memory): \(problem); use a shorter one")
    }
    #expect(try device.stores() == [name])
  }
}
