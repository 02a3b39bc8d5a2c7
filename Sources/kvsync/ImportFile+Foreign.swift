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
    guard bytes.starts(with: Array("version https://git-lfs".utf8)) || isOpenStep(bytes) else {
      return nil
    }
    return PropertyList.foreignFormat(bytes, file: name)
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

  /// `( a, b )`, `{ a = b; }`, `{ "a" = b; }`, `"a" = "b";` and comments, none of which is JSON.
  private func isOpenStep(_ bytes: [UInt8]) -> Bool {
    func skipSpace(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }
    func isPair(_ bytes: ArraySlice<UInt8>) -> Bool {
      let quote = UInt8(ascii: "\"")
      guard bytes.first == quote else { return bytes.first?.isLetter ?? false }
      return skipSpace(bytes.dropFirst().drop { $0 != quote }.dropFirst()).first
        == UInt8(ascii: "=")
    }
    let start = skipSpace(bytes[...])
    switch start.first {
    case UInt8(ascii: "("), UInt8(ascii: "/"): return true
    case UInt8(ascii: "{"): return isPair(skipSpace(start.dropFirst()))
    case UInt8(ascii: "\""): return isPair(start)
    default: return false
    }
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
}
