// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct OrderTests {
  /// Few values of each kind, so that ties at every level are common.
  static func entry(_ generator: inout SeededGenerator) -> Entry {
    let cells: [TaggedCell] = [
      .tombstone, TaggedCell(tag: 1, cell: .text("")), TaggedCell(tag: 1, cell: .text("a")),
      TaggedCell(tag: 1, cell: .text("é")), TaggedCell(tag: 1, cell: .text("e\u{301}")),
      TaggedCell(tag: 2, cell: .integer(.min)), TaggedCell(tag: 2, cell: .integer(0)),
      TaggedCell(tag: 2, cell: .integer(.max)), TaggedCell(tag: 3, cell: .real(-.infinity)),
      TaggedCell(tag: 3, cell: .real(0.1)), TaggedCell(tag: 3, cell: .text("nan")),
      TaggedCell(tag: 6, cell: .blob(Data())), TaggedCell(tag: 6, cell: .blob(Data([0]))),
      TaggedCell(tag: 9, cell: .integer(1)), TaggedCell(tag: 9, cell: .real(1.5)),
      TaggedCell(tag: 9, cell: .text("1")), TaggedCell(tag: 9, cell: .blob(Data([1]))),
    ]
    return Entry(
      Address(store: "cloud", key: "k"), cells[Int.random(in: 0..<cells.count, using: &generator)],
      stamp: HybridTimestamp(rawValue: .random(in: 1...3, using: &generator)),
      origin: ReplicaID(rawValue: .random(in: 1...2, using: &generator)))
  }

  @Test(arguments: Seeds.list(20))
  func theOrderIsTotalAndStrict(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let (a, b, c) = (
        Self.entry(&generator), Self.entry(&generator), Self.entry(&generator)
      )
      #expect([a.beats(b), b.beats(a), a == b].count { $0 } == 1, "\(a) \(b) seed \(seed)")
      if a.beats(b), b.beats(c) { #expect(a.beats(c), "seed \(seed)") }
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

  @Test func aLocalStampIsLaterThanAllItKnowsAndNeverBeforeTheWallClock() {
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

  @Test func aStampPrintsAsSixteenHexadecimalDigits() {
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
