// SPDX-License-Identifier: Apache-2.0
//
// A container that is written from its text reads as if it had been decoded and encoded again.

import KeepsakeValues
import Testing

private let texts = [
  "[]", "{}", " [ 1 , -0 , 1.0, 1e2, 1E-7, -0.0, 123456789012345678, -9223372036854775808 ] ",
  #"["\u0041\/\b\u001f\"\\ é\ud83d\ude00","\u007f",true,false]"#,
  #"{"b":1,"a":{"d":2,"c":[{"z":1,"y":2}]},"":0}"#, #"{"é":1,"e":2,"\u0022":3,"$":4}"#,
  #"{"$date":1,"a":2}"#, #"[{"$date":1.5},{"$date":"2026-11-20T10:00:00.000Z"},{"$date":"nan"}]"#,
  #"[{"$real":"inf"},{"$real":2},{"$data":"AAEC"},{"\u0024data":""}]"#,
  #"[{"$dictionary":{"$date":1}},{"$dictionary":{"a":1}},{"$dictionary":{"$dictionary":{}}}]"#,
  #"{"$dictionary":{"$x":{"$dictionary":{"$y":1}}}}"#, #"{"$dictionary":{"$date":5},"b":1}"#,
]

private let unreadable = [
  "", "[1", "[null]", "[1] 2", #"{"$date":[]}"#, #"{"$x":1}"#, #"{"a":1,"a":2}"#, "[01]",
  #"{"b":1,"a":2,"b":3}"#, "{\"\u{e9}\":1,\"a\":2,\"e\u{301}\":3}", #"["\ud800"]"#, "[1e999]",
  "{\"K\":1,\"\u{212a}\":2}",
]

@Suite struct UndecodedValueTests {
  private func cell(_ text: String) -> TaggedCell {
    let isObject = text.contains("{") && !text.hasPrefix("[") && !text.hasPrefix(" ")
    return TaggedCell(tag: isObject ? 8 : 7, cell: .text(text))
  }

  @Test(arguments: texts)
  func aContainerReadsAsIfItHadBeenDecoded(_ text: String) throws {
    let cell = cell(text)
    let (value, undecoded) = (try #require(cell.value), try #require(cell.undecoded))
    try #require(value.kind != .opaque && undecoded.kind == value.kind)
    #expect(try JSON(showing: undecoded).text() == JSON(showing: value).text())
    guard case .container(let container) = undecoded else { return }
    #expect(try JSON.container(container, isShown: false).text() == JSON(storing: value).text())
  }

  @Test(arguments: unreadable)
  func whatCannotBeReadIsOpaqueEitherWay(_ text: String) throws {
    #expect(cell(text).value?.kind == .opaque)
    #expect(cell(text).undecoded?.kind == .opaque)
  }

  @Test func whatIsReadOfALineIsCanonical() throws {
    for text in texts {
      let value = try #require(cell(text).value)
      let line = Array(#"{"x":"#.utf8) + Array(text.utf8) + [UInt8(ascii: "}")]
      let record = try line.withUnsafeBufferPointer {
        try JSONRecord(parsing: $0, JSONRecord.Names(["x"], large: "x"))
      }
      let columns = try record.content?.columns(of: value.kind, tag: nil)
      #expect(try columns == TaggedCell(value))
    }
  }
}
