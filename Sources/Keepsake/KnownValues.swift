// SPDX-License-Identifier: Apache-2.0
//
// What was read of a store by key, and has not changed since: a hash table that readers search
// without a lock.
//
// The table is of one state of the store. Why is an entry current that a reader finds in it, if the
// state was current when the reader had the table? It was read from that state or a later one: who
// goes on to the next state first forgets what has changed up to there, and after that nobody puts
// in what was read before it. All of these hold the lock.
//
// Threading: a reader borrows the table, and what it finds there stays as long as the loan
// (`SharedReference`). Those who change the table take turns; what they replace they let go without
// the lock, since what goes may be another's, and read settings.

import KeepsakeDevice
package import KeepsakeValues
import Synchronization

package final class KnownValues: Sendable {
  /// What was read under a key.
  private final class Entry: Sendable {
    let key: String
    let value: StoredValue?
    /// False once a commit has changed it: then the key has only its place.
    let isKnown: Bool

    init(_ key: String, _ value: StoredValue?, isKnown: Bool = true) {
      (self.key, self.value, self.isKnown) = (key, value, isKnown)
    }
  }

  /// What is known in one state of the store.
  private final class Table: Sendable {
    let state: StoreState
    let places: Places

    init(_ state: StoreState, _ places: Places) { (self.state, self.places) = (state, places) }
  }

  /// Each key has the first place from that of its hash on that no other key has, and keeps it.
  // Sendable: each place takes care of itself, and `count` is used under the lock.
  private final class Places: @unchecked Sendable {
    private let places: UnsafeMutablePointer<SharedReference<Entry>>
    /// A power of two.
    private let capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
      self.capacity = capacity
      places = .allocate(capacity: capacity)
      for place in 0..<capacity { (places + place).initialize(to: SharedReference()) }
    }

    deinit {
      places.deinitialize(count: capacity)
      places.deallocate()
    }

    /// Half of the places stay free, so that a search ends soon.
    var isFull: Bool { count >= capacity / 2 }

    /// The place of a key, or the one that it would have.
    @inline(__always)
    func find(_ key: String, _ hash: UInt64) -> (place: Int, entry: Unmanaged<Entry>?) {
      var place = Int(truncatingIfNeeded: hash) & (capacity - 1)
      while let entry = places[place].peek() {
        if entry._withUnsafeGuaranteedRef({ $0.key.isSameBytes(as: key) }) { return (place, entry) }
        place = (place + 1) & (capacity - 1)
      }
      return (place, nil)
    }

    func put(_ entry: Entry, _ hash: UInt64) -> Replaced {
      let (place, old) = find(entry.key, hash)
      if old == nil { count += 1 }
      return places[place].exchange(with: entry)
    }

    /// The same entries with twice the room.
    func grown(_ hash: KeyHash) -> Places {
      let grown = Places(capacity: capacity * 2)
      for place in 0..<capacity {
        // A place that is free holds nothing that would have to go.
        if let entry = places[place].object { _ = grown.put(entry, hash(entry.key)) }
      }
      return grown
    }
  }

  private let table = SharedReference<Table>()
  /// Held by who changes anything.
  private let lock = Mutex(())
  private let hash = KeyHash()
  private let limit: Int

  /// - Parameter limit: the most keys: one who asks for ever new ones must not fill the memory.
  package init(limit: Int = 200_000) { self.limit = limit }

  /// What `body` makes of the value of a key, if it is known what a read would give; else nil.
  ///
  /// - Parameter body: is short, lets nothing go but what it has made, and calls nobody's code: who
  ///   replaces the value may wait for it.
  @inline(__always)
  package func read<Result>(_ key: String, _ body: (StoredValue?) -> Result?) -> Result? {
    let hash = hash(key)
    guard let loan = table.borrow() else { return nil }
    let result = loan.object._withUnsafeGuaranteedRef { table -> Result? in
      guard table.state.isCurrent else { return nil }
      return table.places.find(key, hash).entry?._withUnsafeGuaranteedRef {
        $0.isKnown ? body($0.value) : nil
      }
    }
    extendLifetime(result)
    loan.giveBack()
    return result
  }

  /// Makes what is known current: forgets what commits of this process have changed.
  ///
  /// - Returns: false when it is not known what has changed.
  func renew() -> Bool { change { isRenewed(&$0) } }

  /// The values of several keys, of one moment; nil when not all of them are known.
  func values(of keys: [ByteText]) -> [StoredValue?]? {
    change { replaced in
      guard isRenewed(&replaced), let table = table.object else { return nil }
      let known = keys.compactMap { key in
        table.places.find(key.string, hash(key.string)).entry?.takeUnretainedValue()
      }
      guard known.count == keys.count, known.allSatisfy(\.isKnown) else { return nil }
      return known.map(\.value)
    }
  }

  /// - Parameter state: from before the values were read: so they may be newer, and never older.
  package func keep(_ values: [(key: ByteText, value: StoredValue?)], as state: StoreState) {
    change { replaced in
      let known = table.object
      let isSame = known?.state == state
      // Else others have gone on meanwhile.
      guard isSame || known?.state.isCurrent != true else { return }
      var places = isSame ? known?.places : nil
      for (key, value) in values {
        let old = places.flatMap { $0.count < limit ? $0 : nil } ?? Places(capacity: 64)
        let new = old.isFull ? old.grown(hash) : old
        replaced.append(new.put(Entry(key.string, value), hash(key.string)))
        places = new
      }
      guard let places, places !== known?.places else { return }
      replaced.append(table.exchange(with: Table(state, places)))
    }
  }

  private func isRenewed(_ replaced: inout [Replaced]) -> Bool {
    guard let known = table.object else { return false }
    if known.state.isCurrent { return true }
    guard let (state, changed) = known.state.successor() else { return false }
    for key in changed {
      let hash = hash(key.string)
      guard known.places.find(key.string, hash).entry != nil else { continue }
      replaced.append(known.places.put(Entry(key.string, nil, isKnown: false), hash))
    }
    replaced.append(table.exchange(with: Table(state, known.places)))
    return true
  }

  /// - Parameter body: gets a list for what it replaces.
  private func change<Result: Sendable>(_ body: (inout [Replaced]) -> Result) -> Result {
    let (result, replaced) = lock.withLock { _ in
      var replaced: [Replaced] = []
      return (body(&replaced), replaced)
    }
    for old in replaced { old.retire() }
    return result
  }
}
