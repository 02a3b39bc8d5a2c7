// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct EntryOrderTests {
  /// How an entry is applied.
  enum Way: CaseIterable {
    /// One by one, as a setting writes.
    case setting
    /// A page of them, as a merge writes.
    case merge
  }

  private static func apply(_ entries: [Entry], _ way: Way, into device: Device) throws {
    try device.core.write { connection in
      if way == .setting {
        for entry in entries {
          try connection.entries.apply(entry, as: ReplicaState(connection).sequenceNumber + 1)
        }
        return ((), [])
      }
      var replica = try ReplicaState(connection)
      _ = try Incoming.apply(
        entries, of: Incoming.Giver(), connection, upTo: HybridTimestamp(rawValue: .max), &replica,
        at: 0
      ) { _, _ in }
      try replica.save(connection)
      return ((), [])
    }
  }

  /// Checks that of each pair the same one is kept as Swift would.
  private static func check(_ pairs: [(Entry, Entry)], _ way: Way, _ note: String = "") throws {
    func renamed(_ entry: Entry, _ index: Int) -> Entry {
      Entry(
        Address(store: "cloud", key: "k\(index)"), entry.content, timestamp: entry.timestamp,
        replicaID: entry.replicaID)
    }
    let firsts = pairs.enumerated().map { renamed($1.0, $0) }
    let seconds = pairs.enumerated().map { renamed($1.1, $0) }
    let device = try Device.inMemory()
    try apply(firsts, way, into: device)
    try apply(seconds, way, into: device)
    for (a, b) in zip(firsts, seconds) {
      let kept = try device.entry(store: "cloud", key: a.address.key.string)
      if kept != (b.beats(a) ? b : a) {
        Issue.record("\(a) \(b) and not \(String(describing: kept)) \(note)")
      }
    }
  }

  @Test(arguments: Way.allCases)
  func theOrderInSQLIsTheOrderInSwiftForEveryTwoOfASmallWorld(way: Way) throws {
    let all = SampleEntries.all
    try Self.check(all.flatMap { a in all.map { (a, $0) } }, way)
  }

  @Test(arguments: Seeds.list(5), Way.allCases)
  func theOrderInSQLIsTheOrderInSwiftForAnyTwo(seed: UInt64, way: Way) throws {
    var generator = SeededGenerator(seed: seed)
    let pairs = (0..<300).map { _ in
      (SampleEntries.random(using: &generator), SampleEntries.random(using: &generator))
    }
    try Self.check(pairs, way, "seed \(seed)")
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
    let error = #expect(throws: KeepsakeError.self) {
      try device.write([LocalWrite(store: store, key: key, value: 1)])
    }
    #expect(error?.code == .invalidKey)
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
