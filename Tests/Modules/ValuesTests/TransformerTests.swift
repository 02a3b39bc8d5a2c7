// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

/// A type of somebody else's.
private struct Color: Hashable, Sendable {
  var red, green, blue: UInt8

  init?(hex: String) {
    guard hex.utf8.count == 7, hex.hasPrefix("#"), let number = UInt32(hex.dropFirst(), radix: 16)
    else { return nil }
    self.init(number)
  }

  init(_ number: UInt32) {
    (red, green, blue) = (UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255))
  }

  var hex: String {
    "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension Transformer {
  fileprivate static var hexColor: Transformer<Color> {
    Transformer<Color>(fromBackingStore: Color.init(hex:), toBackingStore: \.hex)
  }
  /// Refuses 0 in both directions, with an error of its own.
  fileprivate static var positive: Transformer<Int> {
    Transformer<Int>(
      fromBackingStore: { try Zero.refused($0) }, toBackingStore: { try Zero.refused($0) })
  }
}

private struct Zero: Error, Equatable {
  static func refused(_ number: Int) throws -> Int {
    guard number != 0 else { throw Zero() }
    return number
  }
}

private enum Level: String, Codable, CaseIterable { case low, high }

private enum Mode: Int, BackingStoreConvertible, Codable { case off, on }

private struct Flags: OptionSet, BackingStoreConvertible, Codable, Hashable { let rawValue: UInt8 }

@Suite struct TransformerTests {
  @Test func aTypeWithoutHooksIsStoredByThoseOfItsTransformer() throws {
    let stored = try Transformer<Color>.hexColor.toBackingStore(Color(0x0102ff))
    #expect(stored == "#0102ff")
    #expect(try Transformer<Color>.hexColor.fromBackingStore(stored) == Color(0x0102ff))
  }

  @Test func hooksOverStoredValuesSeeEveryType() throws {
    let count = Transformer<Int>(
      fromBackingStore: { (value: StoredValue) in
        if case .array(let elements) = value { elements.count } else { nil }
      },
      toBackingStore: { StoredValue.array(Array(repeating: true, count: $0)) })
    #expect(try count.toBackingStore(2) == [true, true])
    #expect(try count.fromBackingStore(["a", 1, 2.5]) == 3)
    #expect(throws: ValueError.self) { try count.fromBackingStore("a") }
  }

  @Test func containersAreStoredElementByElement() throws {
    let (red, blue) = (Color(0xff0000), Color(0x0000ff))
    let array = Transformer<Color>.hexColor.array()
    #expect(try array.toBackingStore([red, blue, red]) == ["#ff0000", "#0000ff", "#ff0000"])
    let dictionary = Transformer<Color>.hexColor.dictionary()
    #expect(try dictionary.toBackingStore(["a": red]) == ["a": "#ff0000"])
    let set = Transformer<Color>.hexColor.set()
    #expect(try set.toBackingStore([red, blue]) == ["#0000ff", "#ff0000"])
  }

  @Test(arguments: Seeds.list(10))
  func anyNestingComesBackAsItWas(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let transformer = Transformer<Color>.hexColor.set().array().dictionary()
    for _ in 0..<50 {
      var value: [String: [Set<Color>]] = [:]
      for name in ["a", "", "é", "$date"] where random.chance(50) {
        value[name] = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
          Set(
            (0..<Int.random(in: 0..<5, using: &random)).map { _ in
              Color(UInt32(random.next() >> 40))
            })
        }
      }
      let stored = try transformer.toBackingStore(value)
      let columns = try TaggedCell(stored)
      #expect(try transformer.fromBackingStore(#require(columns.value)) == value, "seed \(seed)")
    }
  }

  @Test func anErrorOfAHookComesThroughEachContainerBothWaysAsItIs() throws {
    let array = Transformer<Int>.positive.array()
    let nested = array.dictionary()
    let set = Transformer<Int>.positive.set()
    #expect(throws: Zero()) { try array.fromBackingStore([1, 0]) }
    #expect(throws: Zero()) { try array.toBackingStore([1, 0]) }
    #expect(throws: Zero()) { try nested.fromBackingStore(["a": [1], "b": [0]]) }
    #expect(throws: Zero()) { try nested.toBackingStore(["a": [1], "b": [0]]) }
    #expect(throws: Zero()) { try set.fromBackingStore([1, 0]) }
    #expect(throws: Zero()) { try set.toBackingStore([1, 0]) }
    #expect(try nested.fromBackingStore(["a": [1, 2]]) == ["a": [1, 2]])
  }

  @Test func anErrorOfOursSaysWhichElementItWasAndNotWhatItWas() throws {
    let transformer = Transformer<Color>.hexColor.array().dictionary()
    let error = #expect(throws: ValueError.self) {
      try transformer.fromBackingStore(["ok": [], "bad": ["#000000", "secret"]])
    }
    #expect(error?.path == "bad[1]" && error?.code == .invalid)
    #expect(error?.description.hasPrefix("at bad[1]: ") == true)
    #expect(error?.description.contains("secret") == false)
    let mismatch = #expect(throws: ValueError.self) {
      try [[String]].fromBackingStore([["a"], ["b", 7]])
    }
    #expect(mismatch?.path == "[1][1]" && mismatch?.code == .typeMismatch)
    let unstorable = #expect(throws: ValueError.self) { try ["a": [UInt64.max]].toBackingStore() }
    #expect(unstorable?.path == "a[0]")
  }

  @Test func aContainerOfAnotherTypeIsAMismatch() {
    let color = Transformer<Color>.hexColor
    let attempts: [() throws -> Void] = [
      { _ = try color.array().fromBackingStore(["a": "#000000"]) },
      { _ = try color.dictionary().fromBackingStore(["#000000"]) },
      { _ = try color.set().fromBackingStore("#000000") },
    ]
    for attempt in attempts {
      let error = #expect(throws: ValueError.self, performing: attempt)
      #expect(error?.code == .typeMismatch && error?.path == "")
    }
  }

  @Test func rawValuesAreStoredForATypeThatConformsToNothingOfOurs() throws {
    let level = Transformer<Level>.rawValue
    #expect(try level.toBackingStore(.high) == "high")
    #expect(try level.array().fromBackingStore(["low", "high"]) == [.low, .high])
    #expect(throws: ValueError.self) { try level.fromBackingStore("purple") }
    #expect(throws: ValueError.self) { try level.fromBackingStore(1) }
  }

  @Test func aTypeThatIsCodableAndHasARawValueIsStoredAsThat() throws {
    #expect(try Mode.on.toBackingStore() == 1)
    #expect(try Mode.fromBackingStore(1) == .on)
    #expect(throws: ValueError.self) { try Mode.fromBackingStore(2) }
    #expect(throws: ValueError.self) { try Mode.fromBackingStore("on") }
    #expect(try Flags(rawValue: 5).toBackingStore() == 5)
    #expect(try Flags.fromBackingStore(5) == Flags(rawValue: 5))
    #expect(throws: ValueError.self) { try Flags.fromBackingStore(256) }
  }
}

@Suite struct SetTests {
  @Test(arguments: Seeds.list(10))
  func equalSetsAreStoredAlikeHoweverTheyWereMade(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let numbers = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        Int.random(in: -50...50, using: &random)
      }
      var other = Set<Int>(minimumCapacity: 1000)
      for number in numbers.shuffled(using: &random) { other.insert(number) }
      let stored = try Set(numbers).toBackingStore()
      #expect(try TaggedCell(stored) == TaggedCell(other.toBackingStore()), "seed \(seed)")
      #expect(stored == .array(Set(numbers).sorted().map { .integer(Int64($0)) }), "seed \(seed)")
      #expect(try Set<Int>.fromBackingStore(stored) == Set(numbers), "seed \(seed)")
    }
  }

  @Test func textIsOrderedByItsBytesAndContainersByTheirs() throws {
    #expect(try Set(["b", "é", "a", "Z"]).toBackingStore() == ["Z", "a", "b", "é"])
    #expect(try Set([[2], [1], [1, 1]]).toBackingStore() == [[1, 1], [1], [2]])
  }

  @Test func anElementThatIsThereTwiceIsAnErrorThatSaysWhere() {
    let error = #expect(throws: ValueError.self) { try Set<Int>.fromBackingStore([1, 2, 1]) }
    #expect(error?.path == "[2]")
    // Two spellings of é are two values in a file, and one element of a set.
    #expect(throws: ValueError.self) { try Set<String>.fromBackingStore(["é", "e\u{301}"]) }
  }

  @Test func elementsThatWouldBeStoredAlikeAreRefused() {
    #expect(throws: ValueError.self) { try Set([Double.nan, .nan]).toBackingStore() }
  }
}
