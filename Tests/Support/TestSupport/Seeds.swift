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
  /// `KEEPSAKE_FACTOR` times as many.
  ///
  /// - Parameters:
  ///   - count: how many a release build takes.
  ///   - debug: how many a debug build takes, by default half. A test that needs more than five
  ///     seconds there takes fewer.
  public static func list(_ count: Int, debug: Int? = nil) -> [UInt64] {
    if let seed = number("KEEPSAKE_SEED", UInt64.init) { return [seed] }
    let count = factor * rounds(count, debug: debug ?? (count + 1) / 2)
    var generator = SeededGenerator(seed: 20_261_120)
    return (0..<count).map { _ in generator.next() }
  }

  /// `KEEPSAKE_SEED` of the environment, otherwise a new one each time; failure messages have to
  /// name it.
  public static var any: UInt64 {
    number("KEEPSAKE_SEED", UInt64.init) ?? .random(in: 1...UInt64.max)
  }

  /// `KEEPSAKE_FACTOR` of the environment, otherwise 1.
  public static var factor: Int { number("KEEPSAKE_FACTOR", Int.init) ?? 1 }

  /// A number of the environment; nil if it is not set.
  public static func number<Number>(_ name: String, _ read: (String) -> Number?) -> Number? {
    guard let text = ProcessInfo.processInfo.environment[name] else { return nil }
    guard let number = read(text) else { preconditionFailure("\(name) is no number: \(text)") }
    return number
  }

  /// One value for a release build, another one for a debug build, which needs several times the
  /// time.
  public static func rounds<Value>(_ release: Value, debug: Value) -> Value {
    #if DEBUG
      debug
    #else
      release
    #endif
  }

  /// All elements in a release build, each `step`th from the first one in a debug build.
  public static func some<Elements: Sequence>(
    of all: Elements, debug step: Int
  ) -> [Elements.Element] {
    let step = rounds(1, debug: step)
    return all.enumerated().filter { $0.offset.isMultiple(of: step) }.map(\.element)
  }
}
