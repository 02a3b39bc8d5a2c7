// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The checksums of a write-ahead log: SQLite reads no frame after the first wrong one.
///
/// Source: https://sqlite.org/fileformat2.html, "WAL Frame Header" and "Checksum Algorithm".
public enum LogChecksums {
  private static let (header, frameHeader) = (32, 24)

  /// A log whose header and frames have the checksums of their bytes, whatever these say.
  public static func correct(_ log: Data) -> Data {
    var bytes = [UInt8](log)
    guard bytes.count >= header else { return log }
    let isBigEndian = bytes[3] & 1 == 1
    var sum: (UInt32, UInt32) = (0, 0)
    func add(_ range: Range<Int>) {
      for place in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
        sum.0 &+= word(bytes, place, isBigEndian) &+ sum.1
        sum.1 &+= word(bytes, place + 4, isBigEndian) &+ sum.0
      }
    }
    func write(at place: Int) {
      let both = UInt64(sum.0) << 32 | UInt64(sum.1)
      withUnsafeBytes(of: both.bigEndian) { bytes.replaceSubrange(place..<place + 8, with: $0) }
    }
    add(0..<24)
    write(at: 24)
    let size = frameHeader + PageDamage.size
    for frame in stride(from: header, through: bytes.count - size, by: size) {
      add(frame..<frame + 8)
      add(frame + frameHeader..<frame + size)
      write(at: frame + 16)
    }
    return Data(bytes)
  }

  private static func word(_ bytes: [UInt8], _ place: Int, _ isBigEndian: Bool) -> UInt32 {
    let word = bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    return isBigEndian ? word : word.byteSwapped
  }
}
