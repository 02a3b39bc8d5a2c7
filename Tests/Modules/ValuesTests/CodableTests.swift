// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

/// What Foundation's encoder writes in the same way: the oracle.
private struct Plain: Codable, Hashable, Sendable {
  var text: String
  var number: Int
  var small: UInt8
  var flag: Bool
  var maybe: Int?
  var children: [Plain]
  var named: [String: Plain]
  var numbered: [Int: String]
  var choice: Choice
}

private enum Choice: Codable, Hashable {
  case none
  case one(Int)
  case two(text: String, flag: Bool)
}

private enum Level: String, Codable, CaseIterable { case low, high, highest }

/// Everything else.
private struct Rich: Codable, Hashable, BackingStoreConvertible {
  var date: Date
  var data: Data
  var url: URL
  var id: UUID
  var price: Decimal
  var timeout: Duration
  var real: Double
  var float: Float
  var levels: Set<Level>
  var byLevel: [Level: Int]
  var nested: [Rich]
}

private struct Maker {
  var random: SeededGenerator

  mutating func plain(depth: Int = 3) -> Plain {
    var children: [Plain] = []
    var named: [String: Plain] = [:]
    if depth > 0 {
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        children.append(plain(depth: depth - 1))
      }
      for _ in 0..<Int.random(in: 0..<2, using: &random) { named[text()] = plain(depth: depth - 1) }
    }
    return Plain(
      text: text(), number: Int(truncatingIfNeeded: random.next()),
      small: UInt8.random(in: 0...255, using: &random), flag: random.chance(50),
      maybe: random.chance(50) ? 1 : nil, children: children, named: named,
      numbered: [-1: text(), 10: text()],
      choice: [.none, .one(7), .two(text: text(), flag: true)].randomElement(using: &random)
        ?? .none)
  }

  mutating func rich(depth: Int = 2) -> Rich {
    Rich(
      date: Date(timeIntervalSinceReferenceDate: Double(random.next() >> 20) / 1024),
      data: Data(text().utf8), url: URL(fileURLWithPath: "/" + text()), id: UUID(),
      price: Decimal(random.next()) / 100, timeout: .nanoseconds(Int64(random.next() >> 8)),
      real: Double(random.next()) / 7, float: Float(random.next()) / 7,
      levels: Set(Level.allCases.filter { _ in random.chance(50) }),
      byLevel: [.low: 1, .highest: 3],
      nested: depth > 0
        ? (0..<Int.random(in: 0..<3, using: &random)).map { _ in rich(depth: depth - 1) } : [])
  }

  private mutating func text() -> String {
    let pieces = ["", "a", "\"", "é", "\n", "$date", "😀"]
    return (0..<3).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
  }
}

@Suite struct CodableTests {
  @Test(arguments: Seeds.list(10))
  func aCodableValueIsStoredAsFoundationWritesItInJSONAndComesBack(seed: UInt64) throws {
    var maker = Maker(random: SeededGenerator(seed: seed))
    for _ in 0..<20 {
      let value = maker.plain()
      let stored = try Transformer<Plain>.codable.toBackingStore(value)
      let columns = try TaggedCell(stored)
      #expect(try Transformer<Plain>.codable.fromBackingStore(#require(columns.value)) == value)
      guard case .text(let text) = columns.cell else {
        Issue.record("not text, seed \(seed)")
        continue
      }
      // The marker rule of our containers is not JSON's.
      guard !text.contains("$dictionary") else { continue }
      let oracle = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
      let ours = try JSONSerialization.jsonObject(with: Data(text.utf8))
      #expect(ours as? NSDictionary == oracle as? NSDictionary, "seed \(seed)")
      #expect(try JSONDecoder().decode(Plain.self, from: Data(text.utf8)) == value, "seed \(seed)")
    }
  }

  @Test(arguments: Seeds.list(10))
  func whatFoundationHasNoOneFormForComesBackToo(seed: UInt64) throws {
    var maker = Maker(random: SeededGenerator(seed: seed))
    for _ in 0..<20 {
      let value = maker.rich()
      let columns = try TaggedCell(value.toBackingStore())
      #expect(try Rich.fromBackingStore(#require(columns.value)) == value, "seed \(seed)")
      #expect(try TaggedCell(Transformer<Rich>.codable.toBackingStore(value)) == columns)
    }
  }

  @Test func partsThatConformKeepTheirOwnForm() throws {
    var maker = Maker(random: SeededGenerator(seed: 1))
    var value = maker.rich(depth: 0)
    value.date = Date(timeIntervalSinceReferenceDate: 5)
    value.levels = [.low, .highest]
    value.timeout = .milliseconds(1500)
    guard case .dictionary(let members) = try value.toBackingStore() else {
      Issue.record("not a dictionary")
      return
    }
    #expect(members["date"] == .date(value.date) && members["data"] == .data(value.data))
    #expect(members["id"] == .string(value.id.uuidString) && members["timeout"] == "1.5")
    #expect(members["levels"] == ["highest", "low"])
    #expect(members["byLevel"] == ["highest", 3, "low", 1])
    #expect(try Transformer<Date>.codable.toBackingStore(value.date) == .date(value.date))
    #expect(try Transformer<Set<Level>>.codable.toBackingStore([.low, .high]) == ["high", "low"])
    #expect(try Transformer<[Int]>.codable.toBackingStore([2, 1]) == [2, 1])
  }

  // MARK: - What cannot be stored

  private struct Holder<Part: Codable & Sendable>: Codable, Sendable { var parts: [String: Part] }

  private func refusal<Part: Codable & Sendable>(_ part: Part) -> ValueError? {
    #expect(throws: ValueError.self) {
      try Transformer<Holder<Part>>.codable.toBackingStore(Holder(parts: ["p": part]))
    }
  }

  @Test func anIntegerBeyondInt64IsAnErrorWithItsPath() throws {
    let error = refusal([1, UInt64.max])
    #expect(error?.path == "parts.p[1]" && error?.code == .invalid)
    #expect(refusal(Int128.max) != nil)
    #expect(try Transformer<UInt64>.codable.toBackingStore(7) == 7)
  }

  @Test func aNilThatWouldBeLostIsAnErrorWithItsPath() {
    #expect(refusal([1, nil])?.path == "parts.p[1]")
    #expect(refusal(Int?.none)?.path == "parts.p")
    #expect(throws: ValueError.self) { try Transformer<Int?>.codable.toBackingStore(nil) }
  }

  private struct Explicit: Codable, Equatable {
    var a: Int?
    var b: Int

    init(a: Int?, b: Int) { (self.a, self.b) = (a, b) }

    enum CodingKeys: CodingKey { case a, b }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(a, forKey: .a)
      try container.encode(b, forKey: .b)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      a = try container.decode(Int?.self, forKey: .a)
      b = try container.decode(Int.self, forKey: .b)
    }
  }

  @Test func aPropertyThatIsNilHasNoMember() throws {
    let transformer = Transformer<Explicit>.codable
    #expect(try transformer.toBackingStore(Explicit(a: nil, b: 1)) == ["b": 1])
    #expect(try transformer.fromBackingStore(["b": 1]) == Explicit(a: nil, b: 1))
    #expect(try transformer.fromBackingStore(["a": 2, "b": 1]) == Explicit(a: 2, b: 1))
  }

  private final class Chain: Codable, Sendable, BackingStoreConvertible {
    let next: Chain?
    init(_ next: Chain?) { self.next = next }
  }

  private struct Nest: Codable, Sendable { var inner: [Nest] }

  @Test func nestingEndsAtItsLimitWithAnErrorAndNoCrash() throws {
    func nest(_ depth: Int) -> Nest {
      (1..<depth).reduce(Nest(inner: [])) { inner, _ in Nest(inner: [inner]) }
    }
    let half = StoredValue.maximumDepth / 2
    let stored = try Transformer<Nest>.codable.toBackingStore(nest(half))
    #expect(try TaggedCell(stored).value == stored)
    #expect(throws: ValueError.self) {
      try Transformer<Nest>.codable.toBackingStore(nest(half + 1))
    }
    let chain = (0..<20_000).reduce(Chain(nil)) { chain, _ in Chain(chain) }
    var links: [Chain] = []
    var next: Chain? = chain
    while let link = next {
      links.append(link)
      next = link.next
    }
    #expect(throws: ValueError.self) { try chain.toBackingStore() }
    // One after the other, or freeing the chain would itself nest too deep.
    while !links.isEmpty { links.removeFirst(1) }
  }

  // MARK: - What cannot be read

  private struct Note: Codable, Sendable, Equatable {
    var title: String
    var level: Level
    var sizes: [Int]
    var levels: Set<Level>?
  }

  @Test(
    arguments: [
      ("title", .integer(1), "title", ValueError.Code.typeMismatch),
      ("title", nil, "", .invalid), ("level", "secret", "level", .invalid),
      ("sizes", [1, "secret"], "sizes[1]", .typeMismatch),
      ("sizes", ["a": 1], "sizes", .typeMismatch), ("levels", ["low", "low"], "levels", .invalid),
    ] as [(String, StoredValue?, String, ValueError.Code)])
  func whatDoesNotDecodeIsAnErrorWithItsPathAndWithoutTheValue(
    member: String, value: StoredValue?, path: String, code: ValueError.Code
  ) throws {
    var members: [String: StoredValue] = ["title": "t", "level": "low", "sizes": [1]]
    let transformer = Transformer<Note>.codable
    #expect(try transformer.fromBackingStore(.dictionary(members)).title == "t")
    members[member] = value
    let error = #expect(throws: ValueError.self) {
      try transformer.fromBackingStore(.dictionary(members))
    }
    #expect(error?.path == path && error?.code == code, "\(String(describing: error))")
    #expect(error?.description.contains("secret") == false)
    #expect(throws: ValueError.self) { try transformer.fromBackingStore(["title"]) }
  }

  /// Reads a number, or text from before it was one.
  private struct Size: Codable, Sendable {
    var number: Int

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      do {
        number = try container.decode(Int.self)
      } catch DecodingError.typeMismatch {
        number = try container.decode(String.self).count
      }
    }
  }

  private struct Own: Error {}

  private struct Refusing: Codable, Sendable {
    init() {}
    init(from decoder: any Decoder) throws { throw Own() }
    func encode(to encoder: any Encoder) throws { throw Own() }
  }

  @Test func aTypeMayTryOneFormAfterTheOtherAndThrowErrorsOfItsOwn() throws {
    #expect(try Transformer<Size>.codable.fromBackingStore(4).number == 4)
    #expect(try Transformer<Size>.codable.fromBackingStore("four!").number == 5)
    #expect(throws: ValueError.self) { try Transformer<Size>.codable.fromBackingStore(true) }
    #expect(throws: Own.self) { try Transformer<[Refusing]>.codable.fromBackingStore([1]) }
    #expect(throws: Own.self) { try Transformer<[Refusing]>.codable.toBackingStore([Refusing()]) }
  }
}
