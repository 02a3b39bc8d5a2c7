// SPDX-License-Identifier: Apache-2.0

/// Hashes keys for tables in memory, in a fraction of the time that Swift's own hash takes. Each
/// has a random seed: who does not know it cannot choose keys that collide.
///
/// Eight bytes at a time are mixed by a multiplication of 64 by 64 bits, as in wyhash.
package struct KeyHash: Sendable {
  private let seed = UInt64.random(in: 0 ... .max)

  package init() {}

  @inline(__always)
  package func callAsFunction(_ key: String) -> UInt64 {
    // Only a bridged string needs a copy.
    key.utf8.withContiguousStorageIfAvailable(hash)
      ?? Array(key.utf8).withUnsafeBufferPointer(hash)
  }

  @inline(__always)
  private func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let bytes = UnsafeRawBufferPointer(bytes)
    func word(_ place: Int) -> UInt64 {
      bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
    }
    func half(_ place: Int) -> UInt64 {
      UInt64(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }
    let count = bytes.count
    var state = Self.mix(seed ^ UInt64(count), 0xA076_1D64_78BD_642F)
    var place = 0
    while count - place > 16 {
      state = Self.mix(word(place) ^ state, word(place + 8) ^ 0xE703_7ED1_A0B4_28DB)
      place += 16
    }
    // Of the rest the first and the last bytes, which may be the same.
    let (low, high): (UInt64, UInt64) =
      switch count - place {
      case 8...: (word(place), word(count - 8))
      case 4...: (half(place), half(count - 4))
      case 1...:
        (UInt64(bytes[place]) << 8 | UInt64(bytes[count - 1]), UInt64(bytes[(place + count) / 2]))
      default: (0, 0)
      }
    return Self.mix(low ^ state, high ^ seed ^ 0x8EBC_6AF0_9C88_C6E3)
  }

  @inline(__always)
  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }
}
