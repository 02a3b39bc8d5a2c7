// SPDX-License-Identifier: Apache-2.0
//
// Maps byte offsets to lines and columns. A file can be one line of megabytes with a warning at
// each element, which rules out scanning from the start and an index of lines. Checkpoints every
// `stride` bytes bound a lookup to `stride` steps.

/// The lines and columns of one file.
package struct SourceMap: Sendable {
  private static let stride = 1024

  private let bytes: [UInt8]
  private var checkpoints: [Place] = []

  private struct Place {
    var line: UInt32 = 1
    var column: UInt32 = 1

    /// Steps over the byte at `index`.
    mutating func step(over index: Int, of bytes: [UInt8]) {
      let byte = bytes[index]
      let isLastOfBreak =
        byte == .lineFeed
        || byte == .carriageReturn && !(index + 1 < bytes.count && bytes[index + 1] == .lineFeed)
      if isLastOfBreak {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }

    /// Steps over eight bytes; false, and no step, unless all are ASCII without CR.
    mutating func step(over word: UInt64) -> Bool {
      guard word.isASCII, word.asciiBytes(equalTo: .carriageReturn) == 0 else { return false }
      let breaks = word.asciiBytes(equalTo: .lineFeed)
      if breaks == 0 {
        column += 8
      } else {
        line += UInt32(breaks.nonzeroBitCount)
        column = UInt32(breaks.leadingZeroBitCount / 8) + 1
      }
      return true
    }
  }

  /// O(n) in the bytes.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var place = Place()
    let start = bytes.starts(with: [UInt8].byteOrderMark) ? 3 : 0
    var index = 0
    while index < bytes.count {
      if index % Self.stride == 0 { checkpoints.append(place) }
      if index % 8 == 0, index + 8 <= bytes.count, place.step(over: bytes.word(at: index)) {
        index += 8
      } else {
        if index >= start { place.step(over: index, of: bytes) }
        index += 1
      }
    }
    if bytes.count % Self.stride == 0 { checkpoints.append(place) }
  }

  /// The place of a byte; one past the last byte is the end of the file.
  package func position(of offset: Int) -> SourcePosition {
    let offset = min(max(offset, 0), bytes.count)
    let checkpoint = offset / Self.stride
    var place = checkpoints[checkpoint]
    let start = bytes.starts(with: [UInt8].byteOrderMark) ? 3 : 0
    var index = max(checkpoint * Self.stride, start)
    while index < offset {
      place.step(over: index, of: bytes)
      index += 1
    }
    return SourcePosition(offset: offset, line: Int(place.line), column: Int(place.column))
  }
}
