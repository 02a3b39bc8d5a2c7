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
    /// By the tables that a merge fills.
    case merge
  }

  private static func apply(_ entries: [Entry], _ way: Way, into device: Device) throws {
    try device.core.access { try Incoming.prepare($0) }
    try device.core.write { connection in
      var replica = try ReplicaState(connection)
      for (index, entry) in entries.enumerated() {
        if way == .setting {
          try connection.entries.apply(entry, as: ReplicaState(connection).sequenceNumber + 1)
        } else {
          try Incoming.add(connection, [(entry, Int64(index + 1))])
        }
      }
      guard way == .merge else { return ((), []) }
      let horizon = HybridTimestamp(rawValue: .max)
      try Incoming.decide(connection, upTo: horizon, replica)
      _ = try Incoming.apply(connection, upTo: horizon, &replica, at: 0)
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

  @Test(arguments: Seeds.list(5))
  func sequenceNumbersAreNeverReused(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let device = try Device.temporary()
    var highest: Int64 = 0
    for _ in 0..<200 {
      let store = ["cloud", "defaults"].randomElement(using: &generator) ?? "cloud"
      let key = ["a", "b"].randomElement(using: &generator) ?? "a"
      let value: StoredValue? =
        generator.chance(40) ? nil : .integer(.random(in: 0...9, using: &generator))
      let before = try device.core.access { try ReplicaState($0) }
      #expect(before.sequenceNumber >= highest, "seed \(seed)")
      try device.write([LocalWrite(store: store, key: key, value: value)])
      let after = try device.core.access { try ReplicaState($0) }
      #expect(after.sequenceNumber >= before.sequenceNumber, "seed \(seed)")
      #expect(after.last >= before.last, "seed \(seed)")
      highest = after.sequenceNumber
    }
  }

  @Test func anEqualSetAnnouncesNothingAndWritesOnlyWhereItSyncs() throws {
    let device = try Device.inMemory(clock: .fixed(Date(timeIntervalSince1970: 1)))
    for (store, isWritten) in [("defaults", false), ("cloud", true)] {
      #expect(try device.write([LocalWrite(store: store, key: "k", value: 1)]).count == 1)
      let before = try #require(try device.entry(store: store, key: "k"))
      #expect(try device.write([LocalWrite(store: store, key: "k", value: 1)]).isEmpty)
      let after = try #require(try device.entry(store: store, key: "k"))
      #expect((after.timestamp > before.timestamp) == isWritten)
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

  @Test func aBatchIsOneChangeSetWithTheNetChangeOfEachKey() throws {
    let device = try Device.inMemory()
    let heard = Heard()
    let observation = device.observe {
      heard.append($0)
    } onFailure: {
      Issue.record($0)
    }
    try device.write([
      LocalWrite(store: "cloud", key: "a", value: 1),
      LocalWrite(store: "cloud", key: "b", value: 2),
      LocalWrite(store: "cloud", key: "a", value: 3),
      LocalWrite(store: "cloud", key: "c", value: 4),
      LocalWrite(store: "cloud", key: "c", value: nil),
    ])
    #expect(heard.sets.map { $0.map(\.key) } == [["a", "b"]])
    #expect(heard.sets.first?.first?.new == 3)
    observation.cancel()
  }

  @Test func textWithANulAndAnEmptyBlobSurviveAsTheyAre() throws {
    let device = try Device.temporary()
    let values: [StoredValue] = ["a\0b", "", .data(Data()), .data(Data([0]))]
    for (index, value) in values.enumerated() {
      try device.write([LocalWrite(store: "cloud", key: "\(index)\0", value: value)])
      let entry = try device.entry(store: "cloud", key: "\(index)\0")
      #expect(entry?.content.value == value)
    }
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

  @Test(arguments: [
    ("cloud", 1 << 20), ("cloud:a", 1 << 20), ("cloudy", 1 << 24), ("defaults", 1 << 24),
  ])
  func aValueBeyondTheLimitOfItsStoreIsNotWritten(store: String, limit: Int) throws {
    let device = try Device.inMemory()
    let values: [StoredValue] = [
      .data(Data(count: limit)), .string(String(repeating: "x", count: limit)),
    ]
    for value in values { try device.write([LocalWrite(store: store, key: "k", value: value)]) }
    let error = #expect(throws: KeepsakeError.self) {
      try device.write([
        LocalWrite(store: store, key: "before", value: 1),
        LocalWrite(store: store, key: "k", value: .data(Data(count: limit + 1))),
      ])
    }
    #expect(error?.code == .invalidValue)
    #expect(
      error?.description
        == "(memory): the value of \(store)/k has \(limit + 1) bytes, "
        + "more than the limit of \(limit); keep it in a file of its own")
    #expect(try device.entry(store: store, key: "k")?.content.value == values[1])
    #expect(try device.entry(store: store, key: "before") == nil)
  }
}
