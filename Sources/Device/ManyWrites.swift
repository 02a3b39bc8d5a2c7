// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension Device {
  /// Makes writes one after the other in one transaction, in their order; durable when it returns.
  /// Unless the device has observers, only one of them is in memory at a time, and 16 bytes of
  /// each key that changes.
  ///
  /// - Parameter next: gives the next one until there is none; called with the file locked.
  /// - Returns: how many keys have another value than before.
  /// - Throws: `KeepsakeError`; then nothing was written.
  package func write(each next: () throws -> LocalWrite?) throws(KeepsakeError) -> Int {
    let isObserved = hasObservers
    return try core.write { connection, session in
      var tally = ChangeTally()
      while let write = try next() {
        let count = session.changes.count
        try session.add(write, connection, at: clock.milliseconds)
        guard let change = session.changes[count...].first else { continue }
        tally.add(change)
        if !isObserved { session.drop(after: count) }
      }
      return tally.count
    }
  }
}

/// Counts keys whose value is another than at first, also when it was changed and changed back.
///
/// Knows keys and values by a hash with a secret seed: of a million keys two are taken for one with
/// a chance of one in thirty million.
private struct ChangeTally {
  private(set) var count = 0
  private var originals: [Int: Int] = [:]

  mutating func add(_ change: SettingChange) {
    let address = Address(store: change.store, key: change.key).hashValue
    let (before, after) = (change.before.hashValue, change.after.hashValue)
    let original = originals[address] ?? before
    originals[address] = original
    count += (after != original ? 1 : 0) - (before != original ? 1 : 0)
  }
}
