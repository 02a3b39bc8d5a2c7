// SPDX-License-Identifier: Apache-2.0

import Foundation
@_exported public import KeepsakeTesting

extension SeededGenerator {
  public mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &self) < percent
  }
}

public enum Seeds {
  /// The seeds of a random test: `KEEPSAKE_SEED` alone when it is set, to replay a failure; else a
  /// fixed first one, so that the usual run is repeatable, and the rest derived from it;
  /// `KEEPSAKE_FACTOR` times as many. A build that is not optimised, which needs four times the
  /// time, takes half of them.
  public static func list(_ count: Int) -> [UInt64] {
    #if DEBUG
      let count = (count + 1) / 2
    #endif
    if let text = ProcessInfo.processInfo.environment["KEEPSAKE_SEED"], let seed = UInt64(text) {
      return [seed]
    }
    let factor = ProcessInfo.processInfo.environment["KEEPSAKE_FACTOR"].flatMap(Int.init) ?? 1
    var generator = SeededGenerator(seed: 20_261_120)
    return (0..<count * factor).map { _ in generator.next() }
  }
}
