// SPDX-License-Identifier: Apache-2.0
//
// The rows of a pane repeat a few keys, thousands of times. A short one is found again by its
// bytes, which are two words, without making a `String`, and a dictionary knows without comparing
// texts that it is new.

/// The short keys of ASCII that were read last.
struct RecentKeys {
  /// A place for each bit of a word. Two keys in one place replace each other.
  static let places = 64
  private static let longest = 15
  /// `</key>`.
  private static let close = (word: 0x3E_79_65_6B_2F_3C as UInt64, count: 6)

  struct Found {
    let text: String
    /// Equal keys have equal places, and so may others.
    let place: Int
  }

  private struct Entry {
    var low: UInt64 = 0
    var high: UInt64 = 0
    var text = ""
  }

  private var entries = [Entry](repeating: Entry(), count: places)

  /// The key at `index`, of at most `limit` bytes, and the count of its bytes with those of the
  /// `</key>` right after it; nil unless it is short, ASCII, and without references.
  mutating func find(in bytes: [UInt8], at index: Int, limit: Int) -> (found: Found, count: Int)? {
    var low = bytes.word(at: index)
    var high: UInt64 = 0
    let count: Int
    if let end = low.firstMarkup {
      count = end
      low = low.lowest(count)
    } else {
      high = bytes.word(at: index + 8)
      guard let end = high.firstMarkup else { return nil }
      count = 8 + end
      high = high.lowest(end)
    }
    guard (low | high).isASCII, count <= min(limit, Self.longest),
      bytes.word(at: index + count).lowest(Self.close.count) == Self.close.word
    else { return nil }
    let place = Self.place(low, high)
    if entries[place].low != low || entries[place].high != high {
      let text = String(decoding: bytes[index..<(index + count)], as: UTF8.self)
      entries[place] = Entry(low: low, high: high, text: text)
    }
    return (Found(text: entries[place].text, place: place), count + Self.close.count)
  }

  /// The highest six bits of products with the golden ratio, which depend on all bits.
  private static func place(_ low: UInt64, _ high: UInt64) -> Int {
    let ratio: UInt64 = 0x9E37_79B9_7F4A_7C15
    return Int(((low ^ high &* ratio) &* ratio) >> 58)
  }
}
