// SPDX-License-Identifier: Apache-2.0
//
// Maps byte offsets to lines and columns. A file can be one line of megabytes with a warning at
// each element: a scan from the start, or from the line's start, would be quadratic. Checkpoints
// every `stride` bytes limit a lookup to `stride` steps.

/// The lines and columns of one file.
package struct SourceMap: Sendable {
  private static let stride = 1024

  private let bytes: [UInt8]
  private var checkpoints: [Checkpoint] = []

  private struct Checkpoint {
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

    /// Steps over a block. Returns false, and makes no step, if the block has a CR.
    mutating func step(over block: ArraySlice<UInt8>) -> Bool {
      block.withUnsafeBufferPointer { block in
        var (breaks, returns): (UInt16, UInt8) = (0, 0)
        // No branch depends on a byte, so that the compiler takes 16 at once.
        for byte in block {
          breaks &+= UInt16(byte.one(ifEqual: .lineFeed))
          returns |= byte.one(ifEqual: .carriageReturn)
        }
        guard returns == 0 else { return false }
        var rest = block[...]
        if let last = block.lastIndex(of: .lineFeed) {
          line += UInt32(breaks)
          column = 1
          rest = block[(last + 1)...]
        }
        for byte in rest { column &+= UInt32(byte.isFirstOfCharacter) }
        return true
      }
    }
  }

  /// O(n) in the bytes.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var place = Checkpoint()
    let start = bytes.startOfText
    checkpoints.reserveCapacity(bytes.count / Self.stride + 1)
    for block in Swift.stride(from: 0, through: bytes.count, by: Self.stride) {
      checkpoints.append(place)
      let range = max(block, start)..<max(start, min(block + Self.stride, bytes.count))
      if !place.step(over: bytes[range]) {
        for index in range { place.step(over: index, of: bytes) }
      }
    }
  }

  /// The place of a byte; one past the last byte is the end of the file.
  package func position(of offset: Int) -> SourcePosition {
    let offset = min(max(offset, 0), bytes.count)
    let checkpoint = offset / Self.stride
    var place = checkpoints[checkpoint]
    let start = max(checkpoint * Self.stride, bytes.startOfText)
    for index in Swift.stride(from: start, to: offset, by: 1) {
      place.step(over: index, of: bytes)
    }
    return SourcePosition(offset: offset, line: Int(place.line), column: Int(place.column))
  }
}
