// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeepsakeValues

/// Entries of one key, for the laws of the order.
package enum SampleEntries {
  /// Of every type, of types that this version does not know, and of every storage class.
  package static let contents: [TaggedCell] = [
    .tombstone, content(1, .text("")), content(1, .text("a")), content(1, .text("a\0b")),
    content(1, .text("\u{E9}")), content(1, .text("e\u{301}")), content(2, .integer(.min)),
    content(2, .integer(0)), content(2, .integer(9_007_199_254_740_993)),
    content(2, .integer(.max)), content(3, .real(-.infinity)), content(3, .real(0.1)),
    content(3, .real(9_007_199_254_740_992)), content(3, .text("nan")), content(4, .integer(1)),
    content(6, .blob(Data())), content(6, .blob(Data([0]))), content(6, .blob(Data([0xff]))),
    content(9, .integer(1)), content(9, .real(1)), content(9, .real(1.5)),
    content(9, .real(0x1p63)), content(9, .integer(.max)), content(9, .text("1")),
    content(9, .blob(Data([0x31]))),
  ]

  /// Each content under each of two timestamps by each of two devices, so that every tie is there.
  package static let all: [Entry] = [1, 2].flatMap { timestamp in
    [1, 2].flatMap { origin in contents.map { entry($0, timestamp, origin) } }
  }

  /// Any content, also one number in both of SQLite's classes. A tie at every level is common.
  package static func random(using generator: inout some RandomNumberGenerator) -> Entry {
    let tag = Int64.random(in: 0...10, using: &generator)
    let number = Int64.random(in: -3...3, using: &generator)
    let cells: [Cell] = [
      .integer(number), .integer(.random(in: .min ... .max, using: &generator)),
      .real(Double(number)), .real(Double(number) + 0.5),
      .real(.random(in: -0x1p64...0x1p64, using: &generator)),
      .text("\(number)"), .text(["", "\u{E9}", "e\u{301}", "\0"][Int(number + 3) / 2]),
      .blob(Data(repeating: 0x31, count: Int(number + 3))),
    ]
    return entry(
      tag == 0 ? .tombstone : content(tag, cells[.random(in: cells.indices, using: &generator)]),
      .random(in: 1...2, using: &generator), .random(in: 1...2, using: &generator))
  }

  private static func content(_ tag: Int64, _ cell: Cell) -> TaggedCell {
    TaggedCell(tag: tag, cell: cell)
  }

  private static func entry(_ content: TaggedCell, _ timestamp: Int64, _ origin: Int64) -> Entry {
    Entry(
      Address(store: "cloud", key: "k"), content, timestamp: HybridTimestamp(rawValue: timestamp),
      replicaID: ReplicaID(rawValue: origin))
  }
}
