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

  package static func == (a: ByteText, b: ByteText) -> Bool {
    let (left, right) = (a.string.utf8, b.string.utf8)
    guard left.count == right.count else { return false }
    // The fast path for two native strings.
    let isEqual = left.withContiguousStorageIfAvailable { left in
      right.withContiguousStorageIfAvailable { right in
        guard let start = left.baseAddress, let other = right.baseAddress else { return true }
        return memcmp(start, other, left.count) == 0
      }
    }
    return (isEqual ?? nil) ?? left.elementsEqual(right)
  }

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
