// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

/// Random values, containers included.
struct ValueGenerator {
  var random: SeededGenerator

  mutating func value(depth: Int = 3) -> StoredValue {
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

@Suite struct StoredValueTests {
  @Test(arguments: Seeds.list(20))
  func everyValueComesBackFromItsTwoColumns(seed: UInt64) throws {
    var generator = ValueGenerator(random: SeededGenerator(seed: seed))
    for _ in 0..<200 {
      let value = generator.value()
      let columns = try TaggedCell(value)
      #expect(columns.value == value, "seed \(seed)")
      #expect(try TaggedCell(columns.value) == columns, "seed \(seed)")
    }
  }

  @Test(arguments: Seeds.list(20))
  func whatIsShownReadsBackButForFractionsOfAMillisecond(seed: UInt64) throws {
    var generator = ValueGenerator(random: SeededGenerator(seed: seed))
    for _ in 0..<200 {
      let value = generator.value()
      if case .date = value { continue }
      let text = try JSON(showing: value).text()
      let again = try JSON(parsing: text).storedValue(of: value.kind)
      if !Self.containsDate(value) { #expect(again == value, "\(text) seed \(seed)") }
    }
  }

  private static func containsDate(_ value: StoredValue) -> Bool {
    switch value {
    case .date: true
    case .array(let elements): elements.contains(where: containsDate)
    case .dictionary(let members): members.values.contains(where: containsDate)
    default: false
    }
  }

  @Test func equalityIsByBytesOfTextAndByContentOfNumbers() {
    #expect(StoredValue.string("é") != .string("e\u{301}"))
    #expect(StoredValue.real(.nan) == .real(.nan))
    #expect(StoredValue.real(0.0) == .real(-0.0))
    #expect(StoredValue.integer(1) != .real(1))
    #expect(StoredValue.integer(1) != .boolean(true))
    #expect(StoredValue.dictionary(["é": 1]) != .dictionary(["e\u{301}": 1]))
    #expect(StoredValue.array([.real(.nan)]) == .array([.real(.nan)]))
  }

  @Test(arguments: [
    TaggedCell(tag: 9, cell: .text("of a later version")), TaggedCell(tag: 1, cell: .integer(1)),
    TaggedCell(tag: 4, cell: .integer(2)), TaggedCell(tag: 7, cell: .text("not JSON")),
    TaggedCell(tag: 7, cell: .text("{}")), TaggedCell(tag: 8, cell: .text(#"{"é":1,"é":2}"#)),
    TaggedCell(tag: 2, cell: .null), TaggedCell(tag: -1, cell: .blob(Data([1]))),
  ])
  func whatCannotBeReadStaysAsItIs(columns: TaggedCell) throws {
    let value = try #require(columns.value)
    #expect(value.kind == .opaque)
    #expect(try TaggedCell(value) == columns)
  }

  @Test func nestingEndsAtItsLimitAndOneMoreIsAnError() throws {
    func nested(_ depth: Int) -> StoredValue {
      (1..<depth).reduce(StoredValue.dictionary(["$d": .date(Date())])) { inner, _ in
        .dictionary(["$x": inner])
      }
    }
    let deepest = nested(StoredValue.maximumDepth)
    #expect(try TaggedCell(deepest).value == deepest)
    #expect(throws: ValueError.self) { try TaggedCell(nested(StoredValue.maximumDepth + 1)) }
    // As another program may have written it.
    func text(_ depth: Int) -> TaggedCell {
      TaggedCell(
        tag: Tag.array.rawValue,
        cell: .text(String(repeating: "[", count: depth) + String(repeating: "]", count: depth)))
    }
    #expect(text(StoredValue.maximumDepth).value?.kind == .array)
    #expect(text(StoredValue.maximumDepth + 1).value?.kind == .opaque)
  }

  @Test func aUsersDictionaryThatLooksLikeAMarkerIsNotTakenForOne() throws {
    for value: StoredValue in [
      ["$date": 1], ["$data": "x"], ["$dictionary": [:]], ["$real": "nan"],
    ] {
      #expect(try TaggedCell(value).value == value)
    }
    #expect(try TaggedCell(["$date": 1]).cell == .text(#"{"$dictionary":{"$date":1}}"#))
  }
}
