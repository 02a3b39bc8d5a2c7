// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

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
  func whatIsShownReadsBackButForFractionsOfAMillisecondOfADate(seed: UInt64) throws {
    var generator = ValueGenerator(random: SeededGenerator(seed: seed))
    for _ in 0..<200 {
      let value = generator.value()
      if case .date = value { continue }
      let text = try JSON(showing: value).text()
      let again = try JSON(parsing: text).storedValue(of: value.kind)
      #expect(again == value, "\(text) seed \(seed)")
    }
  }

  @Test func aDateInAContainerIsShownSoThatItReadsBack() throws {
    let exact = Date(timeIntervalSinceReferenceDate: 816_861_600.5)
    let finer = Date(timeIntervalSinceReferenceDate: 816_861_600.1234567)
    let value = StoredValue.array([.date(exact), .date(finer)])
    let text = try JSON(showing: value).text()
    #expect(text == #"[{"$date":"2026-11-20T10:00:00.500Z"},{"$date":816861600.1234567}]"#)
    #expect(try JSON(parsing: text).storedValue() == value)
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
