// SPDX-License-Identifier: Apache-2.0
//
// A cache of values that were read by key. Each entry holds the version of the store in which it
// was read, and is valid as long as that version is current, as is the value that a property
// caches.
//
// Threading: there is no lock. An entry lives as long as the reader borrows the table, see
// `SharedReference`. When the table grows, entries that other threads add to the old table
// meanwhile are lost, and read again.

import KeepsakeDevice
package import KeepsakeValues

package final class ValueCache: Sendable {
  /// The value that was read under a key.
  private final class Entry: Sendable {
    let key: ByteText
    let value: StoredValue?
    /// Shared by all entries of one version, which is larger than most values.
    let version: Box<StoreVersion>

    init(_ key: ByteText, _ value: StoredValue?, _ version: Box<StoreVersion>) {
      (self.key, self.value, self.version) = (key, value, version)
    }

    /// Retains no part of the version, for which threads would contend.
    @inline(__always)
    var isCurrent: Bool {
      Unmanaged.passUnretained(version)._withUnsafeGuaranteedRef { $0.value.isCurrent }
    }
  }

  /// A hash table with a fixed number of slots. A key is in the slot of its hash or in one of the
  /// next three.
  // Sendable: the memory is allocated once, and each slot in it is Sendable.
  private final class Table: @unchecked Sendable {
    private static let slotsPerKey = 4

    let capacity: Int
    private let slots: UnsafeMutablePointer<SharedReference<Entry>>

    /// - Parameter capacity: a power of two.
    init(capacity: Int) {
      self.capacity = capacity
      slots = .allocate(capacity: capacity)
      for slot in 0..<capacity { (slots + slot).initialize(to: SharedReference()) }
    }

    deinit {
      slots.deinitialize(count: capacity)
      slots.deallocate()
    }

    @inline(__always)
    private func slot(_ hash: Int, _ step: Int) -> Int { (hash &+ step) & (capacity - 1) }

    /// - Returns: an entry that lives as long as the table is borrowed.
    @inline(__always)
    func find(_ key: ByteText) -> Unmanaged<Entry>? {
      let hash = key.quickHash
      for step in 0..<Self.slotsPerKey {
        if let entry = slots[slot(hash, step)].unretained(),
          entry._withUnsafeGuaranteedRef({ $0.key == key })
        {
          return entry
        }
      }
      return nil
    }

    /// - Parameter evicting: whether it may replace another key.
    /// - Returns: whether there was a free slot.
    func put(_ entry: Entry, evicting: Bool) -> Bool {
      let hash = entry.key.quickHash
      let free = (0..<Self.slotsPerKey).lazy.map { self.slot(hash, $0) }.first {
        let old = self.slots[$0].object
        return old == nil || old?.key == entry.key
      }
      guard let slot = free ?? (evicting ? slot(hash, 0) : nil) else { return false }
      slots[slot].replace(by: entry)
      return true
    }

    /// The same entries in twice as many slots.
    func grown() -> Table {
      let grown = Table(capacity: capacity * 2)
      // From a free slot on, entries are in the order of their hashes, so each gets a slot.
      let first = (0..<capacity).first { slots[$0].object == nil } ?? 0
      for step in 0..<capacity {
        if let entry = slots[slot(first, step)].object { _ = grown.put(entry, evicting: true) }
      }
      return grown
    }
  }

  private let table = SharedReference<Table>()
  /// The version of the last entry.
  private let last = SharedReference<Box<StoreVersion>>()
  private let limit: Int

  /// - Parameter limit: the maximum number of keys, a power of two; it limits the memory.
  package init(limit: Int = 1 << 17) { self.limit = limit }

  /// The result of `body` for the cached value of a key; nil if no current value is cached.
  ///
  /// - Parameter body: must be short, release only objects that it has created, and call no code of
  ///   the application: a thread that replaces the value may wait for it.
  @inline(__always)
  package func read<Result>(_ key: String, _ body: (StoredValue?) -> Result?) -> Result? {
    guard let borrowed = table.borrow() else { return nil }
    let result = borrowed.object._withUnsafeGuaranteedRef { table -> Result? in
      table.find(ByteText(key))?._withUnsafeGuaranteedRef {
        $0.isCurrent ? body($0.value) : nil
      }
    }
    extendLifetime(result)
    borrowed.end()
    return result
  }

  private func entry(_ key: ByteText) -> Entry? {
    guard let borrowed = table.borrow() else { return nil }
    let entry = borrowed.object._withUnsafeGuaranteedRef { $0.find(key)?.takeUnretainedValue() }
    extendLifetime(entry)
    borrowed.end()
    return entry
  }

  /// Makes the entry of a key current, if no commit has changed the key since it was read.
  ///
  /// - Returns: its value; nil if it cannot be made current.
  func renew(_ key: ByteText) -> StoredValue?? {
    guard let entry = entry(key), let (now, changed) = entry.version.value.changesSince(),
      !changed.contains(key)
    else { return nil }
    insert(entry.value, for: key, version: now)
    return .some(entry.value)
  }

  /// - Parameter version: taken before the value was read, so the value may be newer, never older.
  package func insert(_ value: StoredValue?, for key: ByteText, version: StoreVersion) {
    let entry = Entry(key, value, shared(version))
    // Do not replace an entry that another thread has read after a later commit.
    if !entry.isCurrent, self.entry(key)?.isCurrent == true { return }
    while true {
      let old = table.object
      if let old, old.put(entry, evicting: old.capacity >= limit) { return }
      let new = old?.grown() ?? Table(capacity: min(64, limit))
      // Another thread may have replaced the table by a larger one.
      if table.object === old { table.replace(by: new) }
    }
  }

  private func shared(_ version: StoreVersion) -> Box<StoreVersion> {
    if let last = last.object, last.value == version { return last }
    let new = Box(version)
    last.replace(by: new)
    return new
  }
}

extension ByteText {
  /// A hash of the bytes, in a fraction of the time that Swift's own takes. It has no seed: keys
  /// that were chosen to collide make the table grow to its limit, and then replace each other.
  @inline(__always)
  fileprivate var quickHash: Int {
    // Only a bridged string needs a copy.
    string.utf8.withContiguousStorageIfAvailable { Self.hash(UnsafeRawBufferPointer($0)) }
      ?? Array(string.utf8).withUnsafeBytes(Self.hash)
  }

  /// Mixes eight bytes at a time by a multiplication of 64 by 64 bits, as wyhash does.
  @inline(__always)
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    let count = bytes.count
    var hash = UInt64(count)
    func mix(_ word: UInt64) {
      let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
      hash = product.high ^ product.low
    }
    func load<Word: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as _: Word.Type) -> UInt64 {
      UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: Word.self))
    }
    switch count {
    case 8...:
      for offset in stride(from: 0, to: count - 8, by: 8) { mix(load(offset, as: UInt64.self)) }
      // The last eight bytes, some of which may have been mixed in before.
      mix(load(count - 8, as: UInt64.self))
    case 4...: mix(load(0, as: UInt32.self) << 32 | load(count - 4, as: UInt32.self))
    default: mix(bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }
    return Int(truncatingIfNeeded: hash)
  }
}
