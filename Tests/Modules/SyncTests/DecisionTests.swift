// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct DecisionTests {
  /// One line of the truth table of `decide`.
  struct Line: Sendable, CustomTestStringConvertible {
    let description: String
    let local: Entry?
    let incoming: Entry
    var receiverCovers = false
    var giverCovers = false
    let expected: Decision

    var testDescription: String { description }
  }

  private static func entry(
    _ value: StoredValue?, at time: Int64, by writer: Int64
  ) throws -> Entry {
    Entry(
      Address(store: "cloud", key: "k"), try TaggedCell(value),
      timestamp: HybridTimestamp(rawValue: time), replicaID: ReplicaID(rawValue: writer))
  }

  private static func lines() throws -> [Line] {
    let (old, new) = (try entry("old", at: 1, by: 1), try entry("new", at: 2, by: 2))
    let applied = Decision(applies: true, loser: nil)
    let nothing = Decision(applies: false, loser: nil)
    return [
      Line(description: "no local entry", local: nil, incoming: old, expected: applied),
      Line(description: "the very same row", local: old, incoming: old, expected: nothing),
      Line(
        description: "twins wrote at one moment, the larger value wins", local: old,
        incoming: try entry("other", at: 1, by: 1), giverCovers: true, expected: applied),
      Line(
        description: "one value, the later write wins", local: old,
        incoming: try entry("old", at: 2, by: 2), expected: applied),
      Line(
        description: "one value, the earlier write loses",
        local: try entry("old", at: 2, by: 2), incoming: old, expected: nothing),
      Line(
        description: "wins, and the giver has read the local entry", local: old, incoming: new,
        giverCovers: true, expected: applied),
      Line(
        description: "wins, and the giver has not", local: old, incoming: new,
        expected: Decision(applies: true, loser: .local)),
      Line(
        description: "loses, and the receiver has read it", local: new, incoming: old,
        receiverCovers: true, expected: nothing),
      Line(
        description: "loses, and the receiver has not", local: new, incoming: old,
        expected: Decision(applies: false, loser: .incoming)),
      Line(
        description: "a deletion wins as any write", local: old,
        incoming: try entry(nil, at: 2, by: 2), expected: Decision(applies: true, loser: .local)),
      Line(
        description: "a value wins over a deletion at one time by one writer",
        local: try entry(nil, at: 1, by: 1), incoming: old, giverCovers: true, expected: applied),
    ]
  }

  @Test func eachLineOfTheTruthTableHolds() throws {
    for line in try Self.lines() {
      let decision = decide(
        local: line.local, incoming: line.incoming, receiverCovers: line.receiverCovers,
        giverCovers: line.giverCovers)
      #expect(decision == line.expected, "\(line.description)")
    }
  }

  /// The statements decide over a page what `decide` decides of each of its rows.
  @Test(arguments: Seeds.list(40))
  func aPageIsDecidedAsItsRowsAre(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let device = try Device.inMemory(identity: ReplicaID(rawValue: 9), clock: .system)
    try device.core.access { try Incoming.prepare($0) }
    var expected: [String: Decision] = [:]
    try device.core.write { connection in
      for number in 1...30 {
        let isCovered = (generator.chance(50), generator.chance(50))
        let (local, incoming) = (
          generator.chance(10) ? nil : SampleEntries.random(using: &generator),
          SampleEntries.random(using: &generator)
        )
        // A store for each, so that each has vectors of its own.
        let store = "cloud:\(number)"
        try fill(connection, store, number, local, incoming, isCovered)
        expected[store] = decide(
          local: local, incoming: incoming, receiverCovers: isCovered.0, giverCovers: isCovered.1)
      }
      try Incoming.decide(
        connection, upTo: HybridTimestamp(rawValue: .max), ReplicaState(connection))
      var found = expected.mapValues { _ in Decision(applies: false, loser: nil) }
      try connection.run(
        """
        SELECT i.store, d.applies, d.logs FROM decision AS d
        JOIN incoming AS i ON i.sequence_number = d.number
        """
      ) { row in
        let applies = row.integer(1) == 1
        let loser: Decision.Loser? = row.integer(2) == 0 ? nil : applies ? .local : .incoming
        found[row.text(0)] = Decision(applies: applies, loser: loser)
        return true
      }
      #expect(found == expected, "seed \(seed)")
      return ((), [])
    }
  }

  private func fill(
    _ connection: Connection, _ store: String, _ number: Int, _ local: Entry?, _ incoming: Entry,
    _ isCovered: (receiver: Bool, giver: Bool)
  ) throws {
    func cells(_ entry: Entry) -> [Cell] {
      [
        .text(store), .text("k"), .integer(entry.content.tag), entry.content.cell,
        .integer(entry.timestamp.rawValue), .integer(entry.replicaID.rawValue),
        .integer(Int64(number)),
      ]
    }
    if let local {
      try connection.run("INSERT INTO entry VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", cells(local))
    }
    try connection.run(
      "INSERT INTO incoming VALUES (?7, ?1, ?2, ?3, ?4, ?5, ?6)", cells(incoming))
    for (table, entry, covers) in [
      ("seen", Optional(incoming), isCovered.receiver), ("giver_seen", local, isCovered.giver),
    ] {
      guard let entry, covers else { continue }
      try connection.run(
        "INSERT INTO \(table) VALUES (?1, ?2, ?3)",
        [
          .text(store), .integer(entry.replicaID.rawValue), .integer(entry.timestamp.rawValue),
        ])
    }
  }
}
