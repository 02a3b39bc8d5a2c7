// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

extension ImportFile {
  /// What is looked at of it.
  private static let limit = 1 << 24

  /// What the input is instead, whose first line is no line of an export; nil if that is all we
  /// know.
  ///
  /// - Parameters:
  ///   - line: its number; those before are blank.
  ///   - isWhole: whether none follows.
  func foreignFormat(line: Int, isWhole: Bool) -> (any Error)? {
    do {
      guard line + input.part.count <= Self.limit else { return nil }
      let start = [UInt8](repeating: 0x0A, count: line - 1) + input.part
      guard let bytes = isWhole ? start : try input.rest(after: start + [0x0A], limit: Self.limit)
      else { return nil }
      if isDocument(bytes) {
        return fail(
          "1",
          "this is JSON, but not as export writes it; write one JSON object with a key a line")
      }
      guard bytes.starts(with: Array("version https://git-lfs".utf8)) || isOpenStep(bytes)
      else { return nil }
      return PropertyList.foreignFormat(bytes, file: input.name)
    } catch {
      return error
    }
  }

  /// Whether the text is one JSON object that is nothing of ours.
  private func isDocument(_ bytes: [UInt8]) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    do throws(JSONError) {
      guard case .object(let members) = try JSON(parsing: text) else { return false }
      return !members.isEmpty && !members.contains { $0.name == "key" }
    } catch {
      return false
    }
  }
}

/// Whether the text is an OpenStep property list: `( a, b )`, `{ a = b; }`, `{ "a" = b; }` or
/// `"a" = b;`, also behind comments. None is JSON. O(n).
private func isOpenStep(_ bytes: [UInt8]) -> Bool {
  // A name and its sign are at the beginning; more is not looked at.
  var text = Substring(String(decoding: bytes.prefix(4096), as: UTF8.self))
  text.skipBlanksAndComments()
  if text.first == "(" { return text.contains(")") }
  if text.first == "{" { text.removeFirst() }
  text.skipBlanksAndComments()
  guard text.skipName() else { return false }
  text.skipBlanksAndComments()
  return text.first == "="
}

extension Substring {
  fileprivate mutating func skipBlanksAndComments() {
    while true {
      if hasPrefix("//") {
        self = drop { !$0.isNewline }
      } else if hasPrefix("/*") {
        guard let end = dropFirst(2).firstRange(of: "*/") else { return removeAll() }
        self = self[end.upperBound...]
      } else if first?.isWhitespace == true {
        self = drop(while: \.isWhitespace)
      } else {
        return
      }
    }
  }

  /// - Returns: whether there was one.
  fileprivate mutating func skipName() -> Bool {
    guard first == "\"" else {
      let rest = drop { $0.isASCII && ($0.isLetter || $0.isNumber) || "_$./:-".contains($0) }
      defer { self = rest }
      return rest.startIndex > startIndex
    }
    removeFirst()
    while let character = popFirst() {
      if character == "\"" { return true }
      if character == "\\" { _ = popFirst() }
    }
    return false
  }
}
