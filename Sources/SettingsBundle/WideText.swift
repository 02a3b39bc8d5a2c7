// SPDX-License-Identifier: Apache-2.0

/// Text in UTF-16 or UTF-32, recognised by its byte order mark, or by the zero bytes of a leading
/// ASCII character.
struct WideText {
  /// The bytes of a code unit, 2 or 4.
  private let width: Int
  private let isLittle: Bool

  var name: String { width == 2 ? "UTF-16" : "UTF-32" }

  /// Nil for any other encoding.
  init?(_ bytes: [UInt8]) {
    let (head, zeros) = (bytes.prefix(4), bytes.prefix(4).map { $0 == 0 })
    switch zeros {
    case _ where head == [0xFF, 0xFE, 0, 0]: (width, isLittle) = (4, true)
    case _ where head == [0, 0, 0xFE, 0xFF]: (width, isLittle) = (4, false)
    case _ where head.starts(with: [0xFF, 0xFE]): (width, isLittle) = (2, true)
    case _ where head.starts(with: [0xFE, 0xFF]): (width, isLittle) = (2, false)
    case [false, true, true, true]: (width, isLittle) = (4, true)
    case [true, true, true, false]: (width, isLittle) = (4, false)
    case _ where zeros.starts(with: [false, true]): (width, isLittle) = (2, true)
    case _ where zeros.starts(with: [true, false]): (width, isLittle) = (2, false)
    default: return nil
    }
  }

  /// The text in UTF-8; nil if the bytes are in neither encoding. O(n).
  static func utf8(_ bytes: [UInt8]) throws(Fault) -> [UInt8]? {
    guard let wide = WideText(bytes) else { return nil }
    guard bytes.count % wide.width == 0, let text = wide.text(bytes) else {
      throw Fault(
        .unsupportedEncoding, at: 0, "this is not \(wide.name)",
        cure: "save the file as UTF-8")
    }
    return Array(text.utf8)
  }

  private func text(_ bytes: [UInt8]) -> String? {
    let places = stride(from: 0, to: bytes.count, by: width)
    func unit(at start: Int) -> UInt32 {
      var unit: UInt32 = 0
      for place in 0..<width {
        unit = unit << 8 | UInt32(bytes[start + (isLittle ? width - 1 - place : place)])
      }
      return unit
    }
    return width == 2
      ? String(validating: places.lazy.map { UInt16(unit(at: $0)) }, as: UTF16.self)
      : String(validating: places.lazy.map { unit(at: $0) }, as: UTF32.self)
  }
}
