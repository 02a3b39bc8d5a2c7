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
}
