// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeepsakeTesting
package import KeepsakeValues

/// Random values, containers included.
package struct ValueGenerator {
  package var random: SeededGenerator

  package init(random: SeededGenerator) { self.random = random }

  package mutating func value(depth: Int = 3) -> StoredValue {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
    case 0: .string(text())
    case 1: .integer(integer())
    case 2: .real(real())
    case 3: .boolean(.random(using: &random))
    case 4: .date(Date(timeIntervalSinceReferenceDate: real()))
    case 5: .data(Data((0..<Int.random(in: 0..<5, using: &random)).map { _ in byte() }))
    case 6: .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth: depth - 1) })
    default: dictionary(depth: depth)
    }
  }

  private mutating func dictionary(depth: Int) -> StoredValue {
    var members: [String: StoredValue] = [:]
    for _ in 0..<Int.random(in: 0..<4, using: &random) { members[text()] = value(depth: depth - 1) }
    return .dictionary(members)
  }

  private mutating func byte() -> UInt8 { .random(in: .min ... .max, using: &random) }

  private mutating func text() -> String {
    let pieces = ["", "a", "\"", "\\", "\n", "\u{0}", "é", "e\u{301}", "😀", "$date", "/", "\u{7f}"]
    return (0..<Int.random(in: 0..<3, using: &random))
      .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
  }

  private mutating func integer() -> Int64 {
    [.min, -1, 0, 1, 9_007_199_254_740_993, .max, .random(in: .min ... .max, using: &random)]
      .randomElement(using: &random) ?? 0
  }

  private mutating func real() -> Double {
    [
      0, -0.0, 1, 0.1, -1.5e300, .leastNonzeroMagnitude, .infinity, -.infinity, .nan, 1e16,
      Double(bitPattern: random.next()),
    ].randomElement(using: &random) ?? 0
  }
}
