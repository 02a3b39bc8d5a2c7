// SPDX-License-Identifier: Apache-2.0
//
// The parts of Swift's coders that synthesized conformances do not use.

import Foundation
import KeepsakeValues
import Testing

private class Animal: Codable {
  let name: String
  init(name: String) { self.name = name }
}

private final class Dog: Animal, @unchecked Sendable {
  let tricks: [String]

  init(name: String, tricks: [String]) {
    self.tricks = tricks
    super.init(name: name)
  }

  enum CodingKeys: CodingKey { case tricks }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    tricks = try container.decode([String].self, forKey: .tricks)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tricks, forKey: .tricks)
    try super.encode(to: container.superEncoder())
  }
}

/// A table, by hand: columns in a nested container, rows in nested unkeyed ones.
private struct Table: Codable, Equatable {
  var columns: [String]
  var rows: [[Int]]

  enum CodingKeys: CodingKey { case head, rows }
  enum Head: CodingKey { case columns }

  init(columns: [String], rows: [[Int]]) { (self.columns, self.rows) = (columns, rows) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    columns = try container.nestedContainer(keyedBy: Head.self, forKey: .head)
      .decode([String].self, forKey: .columns)
    var all = try container.nestedUnkeyedContainer(forKey: .rows)
    rows = []
    while !all.isAtEnd {
      var row = try all.nestedUnkeyedContainer()
      var numbers: [Int] = []
      while !row.isAtEnd { numbers.append(try row.decode(Int.self)) }
      rows.append(numbers)
    }
    #expect(throws: DecodingError.self) { try all.decode(Int.self) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    var head = container.nestedContainer(keyedBy: Head.self, forKey: .head)
    var all = container.nestedUnkeyedContainer(forKey: .rows)
    for row in rows {
      var next = all.nestedUnkeyedContainer()
      for number in row { try next.encode(number) }
    }
    // Filled after the others were asked for.
    try head.encode(columns, forKey: .columns)
  }
}

private struct Silent: Codable {
  init() {}
  init(from decoder: any Decoder) throws {}
  func encode(to encoder: any Encoder) throws {}
}

private struct Twofold: Codable {
  func encode(to encoder: any Encoder) throws {
    var elements = encoder.unkeyedContainer()
    try elements.encode(1)
    var value = encoder.singleValueContainer()
    try value.encode(2)
  }
}

/// Two parts of a type that each ask for the container of one key.
private struct Shared: Codable {
  var isMixed = false

  enum CodingKeys: CodingKey { case place, list }
  enum Part: CodingKey { case x, y }

  init(isMixed: Bool = false) { self.isMixed = isMixed }
  init(from decoder: any Decoder) throws {}

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    var first = container.nestedContainer(keyedBy: Part.self, forKey: .place)
    try first.encode(1, forKey: .x)
    var second = container.nestedContainer(keyedBy: Part.self, forKey: .place)
    try second.encode(2, forKey: .y)
    for number in 1...2 {
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encode(number)
    }
    if isMixed { _ = container.nestedUnkeyedContainer(forKey: .place) }
  }
}

@Suite struct CodableContainerTests {
  @Test func aNestedContainerThatIsAskedForAgainKeepsWhatItHas() throws {
    let encoded = try Transformer<Shared>.codable.toBackingStore(Shared())
    #expect(encoded == ["place": ["x": 1, "y": 2], "list": [1, 2]])
    #expect(throws: ValueError.self) {
      try Transformer<Shared>.codable.toBackingStore(Shared(isMixed: true))
    }
  }

  @Test func aSuperclassIsEncodedUnderItsOwnKey() throws {
    let transformer = Transformer<Dog>.codable
    let stored = try transformer.toBackingStore(Dog(name: "Rex", tricks: ["sit"]))
    #expect(stored == ["super": ["name": "Rex"], "tricks": ["sit"]])
    let dog = try transformer.fromBackingStore(stored)
    #expect(dog.name == "Rex" && dog.tricks == ["sit"])
    let error = #expect(throws: ValueError.self) {
      try transformer.fromBackingStore(["tricks": []])
    }
    #expect(error?.description.contains("super") == true)
  }

  @Test func nestedContainersMayBeFilledInAnyOrder() throws {
    let table = Table(columns: ["a", "b"], rows: [[1, 2], [], [3]])
    let stored = try Transformer<Table>.codable.toBackingStore(table)
    #expect(stored == ["head": ["columns": ["a", "b"]], "rows": [[1, 2], [], [3]]])
    #expect(try Transformer<Table>.codable.fromBackingStore(stored) == table)
    let error = #expect(throws: ValueError.self) {
      try Transformer<Table>.codable.fromBackingStore(
        ["head": ["columns": []], "rows": [[1], [2, "x"]]])
    }
    #expect(error?.path == "rows[1][1]")
  }

  @Test func aTypeThatEncodesNothingOrTwoThingsAtOnceIsAnError() {
    #expect(throws: ValueError.self) { try Transformer<Silent>.codable.toBackingStore(Silent()) }
    let error = #expect(throws: ValueError.self) {
      try Transformer<[Silent]>.codable.toBackingStore([Silent()])
    }
    #expect(error?.path == "[0]")
    #expect(throws: ValueError.self) { try Transformer<Twofold>.codable.toBackingStore(Twofold()) }
  }
}
