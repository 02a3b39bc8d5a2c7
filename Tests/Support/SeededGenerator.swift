// SPDX-License-Identifier: Apache-2.0

import Foundation

/// SplitMix64: the same seed gives the same numbers everywhere. (Steele, Lea, Flood, 2014.)
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) {
    state = seed
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  public mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &self) < percent
  }
}

public enum Seeds {
  /// The seeds of a random test: `KEEPSAKE_SEED` alone when it is set, to replay a failure; else a
  /// fixed first one, so that the usual run is repeatable, and the rest derived from it;
  /// `KEEPSAKE_FACTOR` times as many.
  public static func list(_ count: Int) -> [UInt64] {
    if let text = ProcessInfo.processInfo.environment["KEEPSAKE_SEED"], let seed = UInt64(text) {
      return [seed]
    }
    let factor = ProcessInfo.processInfo.environment["KEEPSAKE_FACTOR"].flatMap(Int.init) ?? 1
    var generator = SeededGenerator(seed: 20_261_120)
    return (0..<count * factor).map { _ in generator.next() }
  }
}
