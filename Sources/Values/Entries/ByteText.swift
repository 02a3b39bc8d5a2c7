// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Text that compares and hashes by its UTF-8 bytes, as SQLite's BINARY collation does.
///
/// `String` compares by canonical equivalence, so "é" and "e" + U+0301 would be one key of a
/// dictionary but two rows of the file.
package struct ByteText: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let string: String

  package init(_ string: String) {
    self.string = string
  }

  package var description: String { string }

  package static func == (a: ByteText, b: ByteText) -> Bool { a.string.isSameBytes(as: b.string) }

  package static func < (a: ByteText, b: ByteText) -> Bool {
    a.string.utf8.lexicographicallyPrecedes(b.string.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    // Only a bridged string needs a copy.
    let done: Void? = string.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if done == nil {
      Array(string.utf8).withUnsafeBytes { hasher.combine(bytes: $0) }
    }
    hasher.combine(0xff as UInt8)
  }
}

extension String {
  /// Whether both texts have the same UTF-8 bytes: "é" is not "e" + U+0301. Unlike `==`, it takes
  /// linear time also for long runs of combining marks.
  package func isSameBytes(as other: String) -> Bool {
    let (left, right) = (utf8, other.utf8)
    guard left.count == right.count else { return false }
    // The fast path for two native strings.
    let isEqual = left.withContiguousStorageIfAvailable { left in
      right.withContiguousStorageIfAvailable { right in
        Self.isEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      }
    }
    return (isEqual ?? nil) ?? left.elementsEqual(right)
  }

  /// - Parameter b: as long as `a`.
  @inline(__always)
  private static func isEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard let start = a.baseAddress, let other = b.baseAddress else { return true }
    func isSame<Word: FixedWidthInteger & BitwiseCopyable>(_ place: Int, _: Word.Type) -> Bool {
      start.loadUnaligned(fromByteOffset: place, as: Word.self)
        == other.loadUnaligned(fromByteOffset: place, as: Word.self)
    }
    // Most keys are short: a call of `memcmp` would take longer than the comparison.
    return switch a.count {
    case 4..<8: isSame(0, UInt32.self) && isSame(a.count - 4, UInt32.self)
    case 8...16: isSame(0, UInt64.self) && isSame(a.count - 8, UInt64.self)
    default: memcmp(start, other, a.count) == 0
    }
  }
}
