// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

extension ImportFile {
  /// What a file is instead, whose first line is no line of an export; nil if that is all we know.
  func foreignFormat(_ bytes: [UInt8]) -> (any Error)? {
    if let text = String(validating: bytes, as: UTF8.self), isDocument(text) {
      return fail(
        "1", "this is JSON, but not as export writes it; write one JSON object with a key a line")
    }
    do {
      guard try bytes.starts(with: Array("version https://git-lfs".utf8)) || isOpenStep(bytes)
      else { return nil }
      return PropertyList.foreignFormat(bytes, file: name)
    } catch {
      return error
    }
  }

  /// Whether the text is one JSON object that is nothing of ours.
  private func isDocument(_ text: String) -> Bool {
    do {
      guard case .object(let members) = try JSON(parsing: text) else { return false }
      return !members.isEmpty && !members.contains { $0.name == "key" }
    } catch {
      return false
    }
  }

  /// `( a, b )`, `{ a = b; }`, `{ "a" = b; }` and `"a" = b;`, also behind comments: none is JSON.
  private func isOpenStep(_ bytes: [UInt8]) throws -> Bool {
    let space = #"(?:\s|//[^\n]*|/\*[^*]*\*/)*"#
    let name = #"(?:"(?:[^"\\]|\\.)*"|[A-Za-z0-9_$./:-]+)"#
    // A name and its sign are at the beginning; more is not looked at.
    let text = String(decoding: bytes.prefix(4096), as: UTF8.self)
    let pattern = try Regex(space + #"(?:\(.*\)|\{?"# + space + name + space + "=)")
    return try pattern.dotMatchesNewlines().prefixMatch(in: text) != nil
  }
}
