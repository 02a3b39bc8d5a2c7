// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct DoorTests {
  /// Entries of one key with stamps, origins and contents so few that every tie occurs.
  private static func entry(_ generator: inout SeededGenerator, key: String) -> Entry {
    let contents: [TaggedCell] = [
      .tombstone, TaggedCell(tag: 1, cell: .text("")), TaggedCell(tag: 1, cell: .text("a\0b")),
      TaggedCell(tag: 1, cell: .text("é")), TaggedCell(tag: 1, cell: .text("e\u{301}")),
      TaggedCell(tag: 2, cell: .integer(.min)), TaggedCell(tag: 2, cell: .integer(.max)),
      TaggedCell(tag: 2, cell: .integer(9_007_199_254_740_993)),
      TaggedCell(tag: 3, cell: .real(-.infinity)), TaggedCell(tag: 3, cell: .real(0.1)),
      TaggedCell(tag: 3, cell: .real(9_007_199_254_740_992)),
      TaggedCell(tag: 3, cell: .text("nan")), TaggedCell(tag: 6, cell: .blob(Data())),
      TaggedCell(tag: 6, cell: .blob(Data([0xff]))), TaggedCell(tag: 42, cell: .integer(1)),
      TaggedCell(tag: 42, cell: .text("1")), TaggedCell(tag: 42, cell: .blob(Data([0x31]))),
    ]
    return Entry(
      Address(store: "cloud", key: key),
      contents[Int.random(in: 0..<contents.count, using: &generator)],
      stamp: HybridTimestamp(rawValue: .random(in: 1...2, using: &generator)),
      origin: ReplicaID(rawValue: .random(in: 1...2, using: &generator)))
  }

  /// As a setting does, or as a meeting does.
  private static func admit(_ entry: Entry, into device: Device, asMeeting: Bool) throws {
    try device.core.write { connection in
      let state = try ReplicaState(connection)
      if asMeeting {
        let content = entry.content
        _ = try Door.fill(
          connection,
          from: """
            FROM (SELECT ?1 AS store, ?2 AS key, ?3 AS tag, ?4 AS value, ?5 AS hlc, ?6 AS origin)
            AS e
            """,
          [
            .text(entry.address.store.string), .text(entry.address.key.string),
            .integer(content.tag), content.cell, .integer(entry.stamp.rawValue),
            .integer(entry.origin.rawValue),
          ])
        _ = try Door.admit(connection, after: state.lseq)
      } else {
        try Door.admit(connection, entry, as: state.lseq + 1)
      }
      return ((), [])
    }
  }

  @Test(arguments: Seeds.list(10), [false, true])
  func theOrderInSQLIsTheOrderInSwift(seed: UInt64, asMeeting: Bool) throws {
    var generator = SeededGenerator(seed: seed)
    let device = try Device.inMemory()
    for round in 0..<300 {
      let key = "k\(round)"
      let (a, b) = (Self.entry(&generator, key: key), Self.entry(&generator, key: key))
      try Self.admit(a, into: device, asMeeting: asMeeting)
      try Self.admit(b, into: device, asMeeting: asMeeting)
      let kept = try device.entry(store: "cloud", key: key)
      #expect(kept == (b.beats(a) ? b : a), "\(a) \(b) seed \(seed)")
    }
  }

  @Test(arguments: Seeds.list(5))
  func arrivalNumbersAreNeverReused(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let device = try Device.temporary()
    var highest: Int64 = 0
    for _ in 0..<200 {
      let store = ["cloud", "defaults"].randomElement(using: &generator) ?? "cloud"
      let key = ["a", "b"].randomElement(using: &generator) ?? "a"
      let value: StoredValue? =
        generator.chance(40) ? nil : .integer(.random(in: 0...9, using: &generator))
      let before = try device.core.access { try ReplicaState($0) }
      #expect(before.lseq >= highest, "seed \(seed)")
      try device.write([LocalWrite(store: store, key: key, value: value)])
      let after = try device.core.access { try ReplicaState($0) }
      #expect(after.lseq >= before.lseq && after.last >= before.last, "seed \(seed)")
      highest = after.lseq
    }
  }

  @Test func anEqualSetAnnouncesNothingAndWritesOnlyWhereItTravels() throws {
    let device = try Device.inMemory(clock: .fixed(1000))
    for (store, isWritten) in [("defaults", false), ("cloud", true)] {
      #expect(try device.write([LocalWrite(store: store, key: "k", value: 1)]).count == 1)
      let before = try #require(try device.entry(store: store, key: "k"))
      #expect(try device.write([LocalWrite(store: store, key: "k", value: 1)]).isEmpty)
      let after = try #require(try device.entry(store: store, key: "k"))
      #expect((after.stamp > before.stamp) == isWritten)
    }
  }

  @Test func aDeletionLeavesATombstoneOnlyWhereItTravels() throws {
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
}
