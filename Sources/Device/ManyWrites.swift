// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension Device {
  /// Makes writes one after the other in one transaction, in their order; durable when it returns.
  /// Unless the device has observers, only one of them is in memory at a time, and 16 bytes of
  /// each key that changes.
  ///
  /// - Parameter body: calls its argument for each write; called with the file locked.
  /// - Returns: the number of keys that have another value than before.
  /// - Throws: `KeepsakeError`, whose cause is an error of `body` that is of another type; then
  ///   nothing was written.
  package func write(
    each body: (_ write: (LocalWrite) throws -> Void) throws -> Void
  ) throws(KeepsakeError) -> Int {
    let isObserved = hasObservers
    return try core.write { connection, session in
      var tally = ChangeTally()
      try body { write in
        let count = session.changes.count
        try session.add(write, connection, at: clock.milliseconds)
        guard let change = session.changes[count...].first else { return }
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
    // One search, which inserts `before` for a new key.
    let original = { (original: inout Int) in original }(&originals[address, default: before])
    count += (after != original ? 1 : 0) - (before != original ? 1 : 0)
  }
}
