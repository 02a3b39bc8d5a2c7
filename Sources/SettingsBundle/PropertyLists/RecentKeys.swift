// SPDX-License-Identifier: Apache-2.0
//
// The rows of a pane repeat a few keys thousands of times. This cache finds a short key by its
// bytes, which are two words, without making a `String`; and the key's slot shows a dictionary that
// the key is new, without comparing texts.

/// A cache of the short ASCII keys that were read last.
struct RecentKeys {
  /// One slot for each bit of a word. Two keys of one slot replace each other.
  static let slots = 64
  private static let longest = 15
  /// `</key>`.
  private static let close = (word: 0x3E_79_65_6B_2F_3C as UInt64, count: 6)

  struct Found {
    let text: String
    /// Equal keys have equal slots; different keys may have equal slots, too.
    let slot: Int
    /// The number of bytes of the key and of `</key>`.
    let count: Int
  }

  private struct Entry {
    var low: UInt64 = 0
    var high: UInt64 = 0
    var text = ""
  }

  private var entries = [Entry](repeating: Entry(), count: slots)

  /// The key of at most `limit` bytes at `index`, which `</key>` follows; nil unless it is short,
  /// ASCII, and without references.
  mutating func find(in bytes: [UInt8], at index: Int, limit: Int) -> Found? {
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
    let slot = Self.slot(low, high)
    if entries[slot].low != low || entries[slot].high != high {
      let text = String(decoding: bytes[index..<(index + count)], as: UTF8.self)
      entries[slot] = Entry(low: low, high: high, text: text)
    }
    return Found(text: entries[slot].text, slot: slot, count: count + Self.close.count)
  }

  /// The highest six bits of products with the golden ratio: they depend on all bits of the key.
  private static func slot(_ low: UInt64, _ high: UInt64) -> Int {
    let ratio: UInt64 = 0x9E37_79B9_7F4A_7C15
    return Int(((low ^ high &* ratio) &* ratio) >> 58)
  }
}
