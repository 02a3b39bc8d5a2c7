// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// A point in an account's history: each push makes one.
package struct HubMark: Sendable, Hashable {
  /// The account's newest sequence number at that point.
  package var number: Int64
  /// 62 random bits, which identify the mark.
  package var bits: Int64
  /// The hub's clock at that point, in milliseconds since 1970. It is not part of the text.
  package var time: Int64

  package init(number: Int64, bits: Int64, time: Int64 = 0) {
    (self.number, self.bits, self.time) = (number, bits, time)
  }

  /// The beginning of each history.
  package static let start = HubMark(number: 0, bits: 0)

  package static func randomBits() -> Int64 { Int64.random(in: 1..<1 << 62) }

  /// Whether both are the same point of the same history.
  package func isSame(_ other: HubMark) -> Bool { number == other.number && bits == other.bits }

  /// The mark as devices get it: they compare the text, and do not parse it.
  package var text: String { "\(number)-\(HexNumber.text(bits))" }

  /// - Returns: nil for a text that no hub has made.
  package init?(text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int64(parts[0]), (0..<1 << 62).contains(number),
      let bits = HexNumber.number(parts[1]), bits > 0 || number == 0
    else { return nil }
    self.init(number: number, bits: bits)
  }
}
