// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct OrderTests {
  /// What a device holds that had one and is told the other.
  private static func merged(_ a: Entry, _ b: Entry) -> Entry { b.beats(a) ? b : a }

  @Test func ofAnyTwoEntriesExactlyOneWinsUnlessTheyAreEqual() {
    for a in SampleEntries.all {
      #expect(Self.merged(a, a) == a)
      for b in SampleEntries.all {
        #expect([a.beats(b), b.beats(a), a == b].count { $0 } == 1, "\(a) \(b)")
        #expect(Self.merged(a, b) == Self.merged(b, a), "\(a) \(b)")
      }
    }
  }

  @Test func ofAnyThreeEntriesTheSameOneWinsWhicheverAreComparedFirst() {
    // The order of all is as good as any: places are cheaper to compare a million times.
    let all = SampleEntries.all.sorted { $1.beats($0) }
    let beats = all.map { a in all.map { a.beats($0) } }
    func merged(_ a: Int, _ b: Int) -> Int { beats[b][a] ? b : a }
    for a in all.indices {
      for b in all.indices {
        let ab = merged(a, b)
        for c in all.indices where merged(ab, c) != merged(a, merged(b, c)) {
          Issue.record("\(all[a]) \(all[b]) \(all[c])")
        }
      }
    }
  }

  @Test(arguments: Seeds.list(20))
  func theLawsHoldForAnyEntries(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let (a, b, c) = (
        SampleEntries.random(using: &generator), SampleEntries.random(using: &generator),
        SampleEntries.random(using: &generator)
      )
      #expect([a.beats(b), b.beats(a), a == b].count { $0 } == 1, "\(a) \(b) seed \(seed)")
      #expect(
        Self.merged(Self.merged(a, b), c) == Self.merged(a, Self.merged(b, c)),
        "\(a) \(b) \(c) seed \(seed)")
    }
  }

  /// Files of all versions say so: the timestamp, then the device, the tag and the cell.
  @Test func theOrderOfEntriesIsThisOne() {
    func entry(_ time: Int64, _ device: Int64, _ tag: Int64, _ cell: Cell) -> Entry {
      Entry(
        Address(store: "cloud", key: "k"), TaggedCell(tag: tag, cell: cell),
        timestamp: HybridTimestamp(rawValue: time), replicaID: ReplicaID(rawValue: device))
    }
    let ascending = [
      entry(1, 9, 9, .text("z")), entry(2, 1, 9, .text("z")), entry(2, 2, 1, .text("z")),
      entry(2, 2, 2, .text("a")), entry(2, 2, 2, .text("b")),
    ]
    for (lower, upper) in zip(ascending, ascending.dropFirst()) {
      #expect(upper.beats(lower) && !lower.beats(upper), "\(lower) \(upper)")
    }
  }

  @Test func cellsCompareAsSQLiteSaysTheyDo() {
    let ascending: [Cell] = [
      .null, .real(-.infinity), .integer(.min), .real(-1.5), .integer(-1), .integer(0), .real(0.5),
      .integer(1), .real(9_007_199_254_740_992), .integer(9_007_199_254_740_993), .integer(.max),
      .real(0x1p63), .real(.infinity), .text(""), .text("a"), .text("e\u{301}"), .text("é"),
      .blob(Data()), .blob(Data([0])), .blob(Data([0, 0])), .blob(Data([1])),
    ]
    for (i, a) in ascending.enumerated() {
      for (j, b) in ascending.enumerated() {
        #expect((a < b) == (i < j), "\(a) \(b)")
      }
    }
  }

  @Test func aLocalTimestampIsLaterThanAllItKnowsAndNeverBeforeTheWallClock() {
    let last = HybridTimestamp(milliseconds: 5000)
    func next(_ replaced: HybridTimestamp?, _ now: Int64) -> HybridTimestamp? {
      .next(after: last, replacing: replaced, wallClock: now)
    }
    #expect(next(nil, 6000) == HybridTimestamp(milliseconds: 6000))
    #expect(next(nil, 4000) == HybridTimestamp(rawValue: last.rawValue + 1))
    #expect(next(nil, -1) == HybridTimestamp(rawValue: last.rawValue + 1))
    let replaced = HybridTimestamp(milliseconds: 7000)
    #expect(next(replaced, 6000) == HybridTimestamp(rawValue: replaced.rawValue + 1))
    #expect(
      HybridTimestamp.next(
        after: HybridTimestamp(rawValue: .max), replacing: nil, wallClock: 0) == nil)
  }

  @Test func aTimestampPrintsAsSixteenHexadecimalDigits() {
    #expect(HybridTimestamp(milliseconds: 1).description == "0000000000010000")
    #expect(HybridTimestamp(milliseconds: .max).description == "7fffffffffff0000")
  }

  @Test func onlyTheCloudStoresTravel() {
    #expect(StoreName.isSynced("cloud"))
    #expect(StoreName.isSynced("cloud:"))
    #expect(StoreName.isSynced("cloud:work"))
    #expect(!StoreName.isSynced("clouds"))
    #expect(!StoreName.isSynced("defaults"))
    #expect(!StoreName.isSynced(""))
  }
}
