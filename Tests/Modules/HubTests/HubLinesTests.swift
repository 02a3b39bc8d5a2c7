// SPDX-License-Identifier: Apache-2.0

import KeepsakeHubServer
import TestSupport
import Testing

@Suite struct HubLinesTests {
  private static let good =
    #"{"rows":1,"mark":"m","vectors":{"a":[1]}}"# + "\n"
    + #"{"key":"k","row":{"a":[1.50,null]}}"# + "\n"

  private func refusal(_ text: String, _ limits: HubLimits = HubLimits()) -> HubRefusal? {
    #expect(throws: HubRefusal.self) { try HubLines(push: Array(text.utf8), limits) }
  }

  @Test func rowsAndVectorsAreKeptAsTheyCame() throws {
    let lines = try HubLines(push: Array(Self.good.utf8), HubLimits())
    #expect(lines.rows.map(\.body) == [Array(#"{"a":[1.50,null]}"#.utf8)])
    #expect(lines.vectors == Array(#"{"a":[1]}"#.utf8) && lines.mark == Array("m".utf8))
  }

  @Test func aKeyIsTheSameHoweverItIsEscaped() throws {
    let text = #"{"rows":1}"# + "\n" + #"{"row":0,"key":"\u0061\/\n\u00e9\ud83d\ude00"}"# + "\n"
    #expect(try HubLines(push: Array(text.utf8), HubLimits()).rows[0].key == Array("a/\né😀".utf8))
  }

  @Test(arguments: [
    "01", "1.", ".5", "+1", "1e", "tru", "nul", "[1,]", "[,1]", "{\"a\"}", "{\"a\":1,}", "{1:2}",
    "\"\\x\"", "\"\\u12\"", "\"\\ud8zz\"", "[", "{", "\"", "1 2", "", "-", "[1 2]", "\"a\tb\"",
  ])
  func aRowThatIsNoJSONIsRefused(row: String) throws {
    let text = #"{"rows":1}"# + "\n" + #"{"key":"k","row":"# + row + "}\n"
    let refusal = refusal(text)
    #expect(refusal?.name == "malformed" && refusal?.detail.contains("line 2") == true)
  }

  @Test func nestingHasALimit() throws {
    for (depth, isRefused) in [(100, false), (513, true), (100_000, true)] {
      let row = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      let text = Array((#"{"rows":1}"# + "\n" + #"{"key":"k","row":"# + row + "}\n").utf8)
      var refused = false
      do { _ = try HubLines(push: text, HubLimits()) } catch { refused = true }
      #expect(refused == isRefused, "\(depth)")
    }
  }

  @Test func anyChangedByteIsRefusedOrAnotherText() throws {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<Seeds.rounds(100_000, debug: 5_000) {
      var bytes = Array(Self.good.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      do {
        let lines = try HubLines(push: bytes, HubLimits())
        var answer = HubAnswer(newest: .start, clock: 0)
        (answer.rows, answer.deviceMark) = (lines.rows, lines.mark)
        if let vectors = lines.vectors { answer.vectors = [vectors] }
        // What was accepted is valid in an answer.
        let text = answer.text(HubLimits()).split(separator: 0x0A)
        #expect(text.count == (lines.vectors == nil ? 2 : 3))
      } catch is HubRefusal {
        continue
      }
    }
  }

  @Test func eachLimitHoldsAtItsEdge() throws {
    var limits = HubLimits()
    (limits.keyBytes, limits.rowBytes, limits.markBytes, limits.vectorBytes) = (1, 17, 1, 9)
    _ = try HubLines(push: Array(Self.good.utf8), limits)
    for (name, change): (String, (inout HubLimits) -> Void) in [
      ("keyBytes", { $0.keyBytes = 0 }), ("rowBytes", { $0.rowBytes = 16 }),
      ("markBytes", { $0.markBytes = 0 }), ("vectorBytes", { $0.vectorBytes = 8 }),
      ("pageRows", { $0.pageRows = 0 }),
    ] {
      var smaller = limits
      change(&smaller)
      #expect(refusal(Self.good, smaller)?.limit == name)
    }
  }
}
