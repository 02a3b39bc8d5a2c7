// SPDX-License-Identifier: Apache-2.0

/// The elements within `<plist>`. The raw value is the name's bytes, little-endian, so that a name
/// compares as one word.
enum ElementName: UInt64 {
  case array = 0x79_61_72_72_61
  case data = 0x61_74_61_64
  case date = 0x65_74_61_64
  case dict = 0x74_63_69_64
  case `false` = 0x65_73_6C_61_66
  case integer = 0x72_65_67_65_74_6E_69
  case key = 0x79_65_6B
  case real = 0x6C_61_65_72
  case string = 0x67_6E_69_72_74_73
  case `true` = 0x65_75_72_74

  var text: String {
    withUnsafeBytes(of: rawValue.littleEndian) {
      String(decoding: $0.prefix(count), as: UTF8.self)
    }
  }

  /// The element with the name in `range`. At least eight bytes must follow its start.
  init?(_ bytes: [UInt8], in range: Range<Int>) {
    guard !range.isEmpty, range.count < 8 else { return nil }
    self.init(rawValue: bytes.word(at: range.lowerBound).lowest(range.count))
  }

  /// The length of the name.
  var count: Int { 8 - rawValue.leadingZeroBitCount / 8 }
}
