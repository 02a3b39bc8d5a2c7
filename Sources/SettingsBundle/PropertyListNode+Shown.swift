// SPDX-License-Identifier: Apache-2.0

extension PropertyListNode {
  /// The value with its kind, for messages: `the string "0.4"`; of a container only the kind.
  var shown: String {
    switch value {
    case .string(let text): "the string \(text.quoted)"
    case .integer(let number): "the integer \(number)"
    case .unsigned(let number): "the integer \(number)"
    case .real(let number): "the real \(number)"
    case .boolean(let flag): flag ? "true" : "false"
    case .data(let bytes): "data of \(bytes.count) bytes"
    case .date, .array, .dictionary: kindName
    }
  }
}

extension [PropertyListNode] {
  /// The first few choices, for messages.
  var summary: String {
    let shown = prefix(4).map(\.shown).joined(separator: ", ")
    if isEmpty { return "which are empty" }
    return count > 4 ? "\(shown) and \(count - 4) more" : shown
  }
}
