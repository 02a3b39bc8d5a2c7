// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake

/// One property of `EverySetting`: how to give it a value that is not its default, and how it
/// reads.
package struct Sample: Sendable, CustomStringConvertible {
  package let name: String
  package let assign: @Sendable (EverySetting) -> Void
  package let read: @Sendable (EverySetting) -> String
  /// What it reads before and after `assign`.
  package let fallback: String
  package let assigned: String

  package var description: String { name }

  init<Value: Sendable>(
    _ name: String, _ path: any ReferenceWritableKeyPath<EverySetting, Value> & Sendable,
    _ fallback: Value, _ value: Value
  ) {
    self.name = name
    assign = { $0[keyPath: path] = value }
    read = { Self.text($0[keyPath: path]) }
    self.fallback = Self.text(fallback)
    assigned = Self.text(value)
  }

  private static func text(_ value: some Sendable) -> String {
    switch value {
    case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
    case let data as Data: data.base64EncodedString()
    case let members as [String: Int]: "\(members.sorted { $0.key < $1.key })"
    case let elements as Set<String>: "\(elements.sorted())"
    case let window as Window:
      "\(window.title) \(window.opened.timeIntervalSinceReferenceDate) \(window.tabs.sorted())"
    default: "\(value)"
    }
  }
}

package enum Samples {
  private static let bytes = Data([0, 1, 0xff])
  private static let date = Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_7)
  private static let url = URL(fileURLWithPath: "/tmp/é ü")

  package static let all: [Sample] =
    plain + optional + transformed + [
      Sample("loginCount", \.loginCount, 0, 7), Sample("nickname", \.nickname, nil, "nick"),
      Sample("constant", \.constant.wrappedValue, "constant", "changed"),
      Sample("maybeConstant", \.maybeConstant.wrappedValue, nil, 9),
    ]

  private static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  private static let noID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  private static let window = Window(title: "é", opened: date, tabs: [2, 1, 10])
  private static let colors = [Color(1, 2, 3), Color(0, 0, 0)]

  private static let transformed: [Sample] = [
    Sample("id", \.id, noID, id),
    Sample("price", \.price, 1, Decimal(sign: .minus, exponent: -2, significand: 1_999)),
    Sample("timeout", \.timeout, .seconds(30), .nanoseconds(-1_500_000_001)),
    Sample("tags", \.tags, [], ["b", "a", "é"]),
    Sample("accent", \.accent, Color(0, 0, 255), Color(9, 9, 9)),
    Sample("palette", \.palette, [], colors), Sample("themes", \.themes, [:], ["a": [colors[0]]]),
    Sample("window", \.window, Window(title: "", opened: .distantPast, tabs: []), window),
    Sample("maybeTags", \.maybeTags, nil, [id]),
    Sample("maybeAccent", \.maybeAccent, nil, Color(7, 7, 7)),
    Sample("maybePalette", \.maybePalette, nil, []),
    Sample("maybeWindow", \.maybeWindow, nil, window),
    Sample("constantPalette", \.constantPalette.wrappedValue, [Color(1, 1, 1)], colors),
    Sample("maybeConstantPalette", \.maybeConstantPalette.wrappedValue, nil, colors),
  ]

  private static let plain: [Sample] = [
    Sample("string", \.string, "guest", "a\0\"é\n"), Sample("boolean", \.boolean, false, true),
    Sample("integer", \.integer, 1, .max), Sample("int64", \.int64, 2, .min),
    Sample("uint8", \.uint8, 3, 255), Sample("double", \.double, 1.5, 0.1),
    Sample("float", \.float, 2.5, .greatestFiniteMagnitude),
    Sample("data", \.data, Data([1]), bytes),
    Sample("date", \.date, Date(timeIntervalSinceReferenceDate: 0), date),
    Sample("url", \.url, URL(fileURLWithPath: "/"), url),
    Sample("array", \.array, ["a"], ["", "é", "e\u{301}"]),
    Sample("nested", \.nested, [[1]], [[], [1, 2]]),
    Sample("dictionary", \.dictionary, ["a": 1], ["": 0, "$date": 1]),
    Sample("theme", \.theme, Theme(name: "light"), Theme(name: "dark")),
    Sample("color", \.color, Color(0, 0, 255), Color(1, 2, 3)),
  ]

  private static let optional: [Sample] = [
    Sample("maybeString", \.maybeString, nil, ""),
    Sample("maybeBoolean", \.maybeBoolean, nil, false),
    Sample("maybeInteger", \.maybeInteger, nil, 0),
    Sample("maybeDouble", \.maybeDouble, nil, .infinity),
    Sample("maybeData", \.maybeData, nil, Data()), Sample("maybeDate", \.maybeDate, nil, date),
    Sample("maybeURL", \.maybeURL, nil, url), Sample("maybeArray", \.maybeArray, nil, []),
    Sample("maybeDictionary", \.maybeDictionary, nil, ["a": 1]),
    Sample("maybeTheme", \.maybeTheme, nil, Theme(name: "dark")),
    Sample("maybeColor", \.maybeColor, nil, Color(255, 0, 0)),
  ]
}
