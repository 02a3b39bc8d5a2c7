// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Testing

@Suite struct JSONTests {
  @Test(arguments: [
    ("null", JSON.null), (" [ ] ", .array([])), ("{}", .object([])), ("-0", .integer(0)),
    ("9223372036854775807", .integer(.max)), ("1.0", .real(1)), ("1e2", .real(100)),
    (#""\u0041\n\/\ud83d\ude00""#, .string("A\n/😀")), (#""\u0000""#, .string("\0")),
    (#"{"a":[true,false]}"#, .object(["a": .array([.boolean(true), .boolean(false)])])),
  ])
  func whatIsJSONIsRead(text: String, value: JSON) throws {
    #expect(try JSON(parsing: text) == value)
  }

  @Test(arguments: [
    ("", 1), ("nul", 4), ("01", 1), ("1.", 3), ("1e", 3), ("-", 2), ("[1,]", 4), ("[1 2]", 4),
    ("{\"a\"}", 5), ("{a:1}", 2), ("\"a", 3), ("\"\n\"", 2), ("\"\\x\"", 2), ("\"\\ud800\"", 2),
    ("9223372036854775808", 1), ("1e999", 1), ("1 1", 3), ("é", 1), ("[\"é\" x]", 6),
    ("{\"a\":1,\"a\":2}", 8), ("{\"é\":1,\"e\u{301}\":2}", 8), ("tru e", 4), ("\u{feff}1", 1),
  ])
  func whatIsNotJSONIsRefusedAtItsColumn(text: String, column: Int) throws {
    let error = #expect(throws: JSONError.self) { try JSON(parsing: text) }
    #expect(error?.column == column, "\(String(describing: error))")
  }

  @Test func nestingIsBounded() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(throws: Never.self) { try JSON(parsing: nested(JSON.maximumDepth)) }
    #expect(throws: JSONError.self) { try JSON(parsing: nested(JSON.maximumDepth + 1)) }
    #expect(throws: JSONError.self) { try JSON(parsing: nested(1_000_000)) }
  }
}
