// SPDX-License-Identifier: Apache-2.0

/// Runs of combining marks: comparing two by canonical equivalence takes the square of their
/// length, hours for a megabyte.
package enum CombiningMarks {
  private static let marks = String(repeating: "\u{301}\u{323}", count: 125_000)
  /// Canonically equal to `marks`.
  private static let other = String(repeating: "\u{323}\u{301}", count: 125_000)

  /// The text with `marks` for each `¦` and `other` for each `|`.
  package static func bytes(of text: String) -> [UInt8] {
    text.unicodeScalars.reduce(into: []) { bytes, scalar in
      switch scalar {
      case "¦": bytes += marks.utf8
      case "|": bytes += other.utf8
      default: bytes += String(scalar).utf8
      }
    }
  }
}
