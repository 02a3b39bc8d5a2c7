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

  /// What a file has of a container, whatever text it was read from.
  @Test(arguments: [
    (
      " [ 1 , -0 , 1.0, 1e2, 1E-7, -0.0, -9223372036854775808 ] ",
      "[1,0,1.0,100.0,1e-07,0.0,-9223372036854775808]"
    ),
    (
      #"["\u0041\/\b\u001f\"\\ é\ud83d\ude00","\u007f",true]"#,
      #"["A/\u0008\u001f\"\\ é😀","\u007f",true]"#
    ),
    (
      #"{"b":1,"a":{"d":2,"c":[{"z":1,"y":2}]},"":0}"#,
      #"{"":0,"a":{"c":[{"y":2,"z":1}],"d":2},"b":1}"#
    ),
    (#"{"é":1,"e":2,"\u0022":3,"$":4}"#, #"{"\"":3,"$":4,"e":2,"é":1}"#),
    (#"{"$date":1,"a":2}"#, #"{"$date":1,"a":2}"#),
    (
      #"[{"$date":1},{"$date":"2026-11-20T10:00:00.000Z"},{"$date":"nan"}]"#,
      #"[{"$date":1.0},{"$date":816861600.0},{"$date":"nan"}]"#
    ),
    (
      #"[{"$real":"inf"},{"$real":2},{"\u0024data":"AAEC"}]"#,
      #"[{"$real":"inf"},2.0,{"$data":"AAEC"}]"#
    ),
    (
      #"[{"$dictionary":{"$date":1}},{"$dictionary":{"a":1}}]"#,
      #"[{"$dictionary":{"$date":1}},{"a":1}]"#
    ),
    (
      #"{"a1":1,"a2":2,"a3":3,"a4":4,"a5":5,"a6":6,"a7":7,"a8":8,"a10":10,"a9":9}"#,
      #"{"a1":1,"a10":10,"a2":2,"a3":3,"a4":4,"a5":5,"a6":6,"a7":7,"a8":8,"a9":9}"#
    ),
  ])
  func aContainerIsStoredInOneForm(text: String, stored: String) throws {
    let value = try JSON(parsing: text).storedValue()
    #expect(try JSON(storing: value).text() == stored)
    #expect(try TaggedCell(value).value == value)
  }

  @Test func aNameIsFoundTwiceAmongMany() throws {
    let names = (0..<20).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
    #expect(try JSON(parsing: "{\(names)}")["n19"] == .integer(19))
    #expect(throws: JSONError.self) { try JSON(parsing: "{\(names),\"n3\":1}") }
  }

  @Test func nestingIsBounded() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(throws: Never.self) { try JSON(parsing: nested(JSON.maximumDepth)) }
    #expect(throws: JSONError.self) { try JSON(parsing: nested(JSON.maximumDepth + 1)) }
    #expect(throws: JSONError.self) { try JSON(parsing: nested(1_000_000)) }
  }

  @Test func theNumberOfValuesAndNamesIsBounded() throws {
    // Six values and a name.
    let text = #"[0,[1],{"a":"b"}]"#
    #expect(throws: Never.self) { try JSON(parsing: text, maximumItems: 7) }
    for (limit, column) in [(6, 13), (5, 9), (4, 8), (3, 5), (0, 1)] {
      let error = #expect(throws: JSONError.self) { try JSON(parsing: text, maximumItems: limit) }
      #expect(error?.column == column, "\(limit)")
    }
  }
}
