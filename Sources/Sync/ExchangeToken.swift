// SPDX-License-Identifier: Apache-2.0

/// What two devices agree on when they meet, to recognise each other's state the next time: the
/// number of the exchange (30 bits), then 32 random bits.
///
/// The random half distinguishes two copies of one file, the number says which of two states is
/// older.
package struct ExchangeToken: RawRepresentable, Equatable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The token of the exchange after `round`.
  init(after round: Int64, using generator: inout some RandomNumberGenerator) {
    let next = (round + 1) & 0x3FFF_FFFF
    rawValue = next << 32 | Int64(UInt32.random(in: .min ... .max, using: &generator))
  }

  var round: Int64 { rawValue >> 32 }
}
