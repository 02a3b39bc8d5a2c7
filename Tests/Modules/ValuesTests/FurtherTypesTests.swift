// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct FurtherTypesTests {
  private enum Side: String, CodingKeyRepresentable, Codable { case left, right }

  @Test(arguments: Seeds.list(8))
  func aFloatIsStoredAsTheRealOfItsText(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let edges: [Float] = [
      12.34, 0.1, 16_777_216, 1e10, .leastNonzeroMagnitude, .leastNormalMagnitude, -.pi,
      .greatestFiniteMagnitude, 0, .infinity, -.infinity,
    ]
    let numbers =
      edges + (0..<20_000).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }
    for number in numbers where !number.isNaN {
      let stored = number.toBackingStore()
      #expect(try Float.fromBackingStore(stored) == number, "\(number) seed \(seed)")
      #expect(stored == .real(try #require(Double("\(number)"))), "\(number) seed \(seed)")
      // As earlier versions stored it.
      #expect(try Float.fromBackingStore(.real(Double(number))) == number)
    }
    #expect(try Float.fromBackingStore(Float.nan.toBackingStore()).isNaN)
    #expect(Float(12.34).toBackingStore() == 12.34)
  }

  @Test func aRangeIsItsTwoBoundsAsCodableHasIt() throws {
    #expect(try (0..<10).toBackingStore() == [0, 10])
    #expect(try (0.5...9.5).toBackingStore() == [0.5, 9.5])
    #expect(try Range<Int>.fromBackingStore([3, 3]) == 3..<3)
    #expect(try ClosedRange<String>.fromBackingStore(["a", "b"]) == "a"..."b")
    #expect(try [0..<1, 2..<3].toBackingStore() == [[0, 1], [2, 3]])
    struct Limits: Codable { var of: Range<Int> }
    let text = try #require(String(bytes: JSONEncoder().encode(Limits(of: 1..<4)), encoding: .utf8))
    #expect(text == #"{"of":[1,4]}"#)
    for bad: StoredValue in [[2, 1], [1], [1, 2, 3], [], 1, ["a", "b"], [.real(.nan), 1]] {
      #expect(throws: ValueError.self, "\(bad)") { try Range<Double>.fromBackingStore(bad) }
      #expect(throws: ValueError.self, "\(bad)") { try ClosedRange<Double>.fromBackingStore(bad) }
    }
  }

  @Test func keysThatCodableWritesAsNamesAreNames() throws {
    #expect(try [7: "x", -1: "y"].toBackingStore() == ["7": "x", "-1": "y"])
    #expect(try [Int: String].fromBackingStore(["7": "x", "-1": "y"]) == [7: "x", -1: "y"])
    #expect(try [Side.left: 1].toBackingStore() == ["left": 1])
    #expect(try [Side: Int].fromBackingStore(["right": 2]) == [.right: 2])
    let json = try JSONEncoder().encode([7: "x"])
    #expect(String(bytes: json, encoding: .utf8) == #"{"7":"x"}"#)
    let wrong = #expect(throws: ValueError.self) { try [Int: Int].fromBackingStore(["a": 1]) }
    #expect(wrong?.code == .invalid && wrong?.description.contains("rename or remove") == true)
    #expect(throws: ValueError.self) { try [Int: Int].fromBackingStore(["7": 1, "07": 2]) }
    #expect(throws: ValueError.self) { try [Side: Int].fromBackingStore(["middle": 1]) }
  }

  @Test func aValueIsPrintedAsTheCommandShowsIt() {
    let values: [(StoredValue, String)] = [
      ("guest", #""guest""#), (5, "5"), (0.5, "0.5"), (true, "true"), ([1, true], "[1,true]"),
      (["b": 1, "a": "x"], #"{"a":"x","b":1}"#), (.data(Data([1, 2])), #""AQI=""#),
      (.date(Date(timeIntervalSince1970: 0)), #""1970-01-01T00:00:00.000Z""#),
    ]
    for (value, text) in values {
      #expect("\(value)" == text)
      #expect("\([value])" == "[\(text)]")
    }
    let nested = (0..<80).reduce(StoredValue.integer(1)) { value, _ in .array([value]) }
    #expect("\(nested)".hasPrefix("a value that cannot be shown: "))
  }
}
