// SPDX-License-Identifier: Apache-2.0
//
// The coercions beside Foundation's own, on generated values. Where they are known to part, the
// reason is told here and the case is left to the tables of `CoercionTests.swift`.

import Foundation
import Keepsake
import TestSupport
import Testing

@Suite struct CoercionDifferentialTests {
  private let store: UserDefaultsStore

  init() throws {
    store = try UserDefaultsStore(on: .inMemory())
  }

  private static func text(_ generator: inout SeededGenerator) -> String {
    let pieces = [
      " ", "\t", "\n", "\u{a0}", "+", "-", "0", "00", "1", "7", "42", "9223372036854775807", ".",
      ",", "e", "E", "e3", "E-2", "e400", "x", "y", "Y", "t", "T", "n", "nan", "inf", "é", "٤",
    ]
    let count = Int.random(in: 0...5, using: &generator)
    return (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
  }

  /// Compares on many texts, and requires that most of them were worth comparing.
  private func compare(
    _ seed: UInt64, unless isKnown: (String) -> Bool, _ agree: (String) -> Bool
  ) {
    var generator = SeededGenerator(seed: seed)
    var compared = 0
    for _ in 0..<300 {
      let text = Self.text(&generator)
      guard !isKnown(text) else { continue }
      compared += 1
      store.set(text, forKey: "k")
      #expect(agree(text), "seed \(seed): \(text.debugDescription)")
    }
    #expect(compared > 150, "seed \(seed)")
  }

  @Test(arguments: Seeds.list(10))
  func boolReadsTextAsFoundationDoes(seed: UInt64) {
    // On Linux Foundation skips white space after a sign and after zeros too, and takes letters
    // only when neither is before them. Its documentation says nothing of either.
    compare(seed, unless: { $0.contains(/^\s*([+-]\s|[+-]?0+\s|[+-]?0*[yYtT])/) }) {
      store.bool(forKey: "k") == NSString(string: $0).boolValue
    }
  }

  @Test(arguments: Seeds.list(10))
  func integerReadsTextAsFoundationDoes(seed: UInt64) {
    // On Linux Foundation skips white space after a sign too.
    compare(seed, unless: { $0.contains(/^\s*[+-]\s/) }) {
      store.integer(forKey: "k") == NSString(string: $0).integerValue
    }
  }

  @Test(arguments: Seeds.list(10))
  func doubleReadsTextAsFoundationDoes(seed: UInt64) {
    // On Linux Foundation skips white space after a sign too and none that ends a line, and gives 0
    // for a number with an "e" that no digits follow.
    compare(
      seed,
      unless: {
        $0.contains(/^\s*[+-]\s/) || $0.contains(/^\s*\n/)
          || $0.contains(/^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE](?![+-]?[0-9])/)
      }
    ) {
      store.double(forKey: "k") == NSString(string: $0).doubleValue
    }
  }

  @Test(arguments: Seeds.list(10))
  func numbersBecomeOtherTypesAsInFoundation(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let wide = Double(bitPattern: generator.next())
      let number = generator.chance(50) ? wide : Double.random(in: -1e6...1e6, using: &generator)
      let foundation = NSNumber(value: number)
      store.set(number, forKey: "k")
      // On Linux Foundation writes 100 as "100.0". It keeps the sign of -0, a file does not.
      let text = number == 0 ? "0" : foundation.stringValue
      let expected = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
      #expect(store.string(forKey: "k") == expected, "seed \(seed): \(number)")
      // On Linux Foundation calls 0.5 false, though `UserDefaults` there calls it true.
      if number.magnitude >= 1 || number == 0 {
        #expect(store.bool(forKey: "k") == foundation.boolValue, "seed \(seed): \(number)")
      }
      #expect(
        store.float(forKey: "k").bitPattern == foundation.floatValue.bitPattern
          || number.isNaN || number == 0, "seed \(seed): \(number)")
      // Out of range Foundation on Linux gives Int.min, whatever the sign.
      guard number > -0x1p63, number < 0x1p63 else { continue }
      #expect(store.integer(forKey: "k") == foundation.intValue, "seed \(seed): \(number)")
    }
  }

  @Test(arguments: Seeds.list(10))
  func integersBecomeOtherTypesAsInFoundation(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let number =
        Int(truncatingIfNeeded: generator.next())
        >> Int.random(in: 0...63, using: &generator)
      let foundation = NSNumber(value: number)
      store.set(number, forKey: "k")
      #expect(store.string(forKey: "k") == foundation.stringValue, "seed \(seed): \(number)")
      #expect(store.double(forKey: "k") == foundation.doubleValue, "seed \(seed): \(number)")
      #expect(store.bool(forKey: "k") == foundation.boolValue, "seed \(seed): \(number)")
    }
  }

  @Test(arguments: ["/tmp/x", "~/x", "~", "relative/x", "/tmp/a b/é"])
  func aPathBecomesTheURLThatFoundationMakesOfIt(path: String) {
    store.set(path, forKey: "k")
    let foundation = URL(fileURLWithPath: NSString(string: path).expandingTildeInPath)
    // Foundation asks the disk whether it is a folder; we look at the text.
    #expect(store.url(forKey: "k")?.absoluteURL.path == foundation.absoluteURL.path)
  }
}
