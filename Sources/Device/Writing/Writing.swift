// SPDX-License-Identifier: Apache-2.0

public import KeepsakeStorage
package import KeepsakeValues

extension Device {
  /// Makes all of these writes in one transaction, in their order; durable when it returns.
  ///
  /// An equal set announces nothing. In a store that is not synced it also writes nothing; in a
  /// synced one it takes a new timestamp, because it is the last write.
  ///
  /// - Parameter limit: how long to wait for other processes at most; nil for as long as the device
  ///   does.
  /// - Returns: the net change of each key.
  /// - Throws: `KeepsakeError`; then nothing was written.
  @discardableResult
  package func write(
    _ writes: [LocalWrite], durability: Durability = .crashSafe, waiting limit: Duration? = nil
  ) throws(KeepsakeError) -> [SettingChange] {
    try telling { () throws(KeepsakeError) in
      if writes.count == 1 { return try core.set(writes[0], clock, durability, waiting: limit) }
      return try core.write(durability, waiting: limit) { connection, session in
        let count = session.changes.count
        for write in writes { try session.add(write, connection, at: clock.milliseconds) }
        return SettingChange.net(Array(session.changes[count...]))
      }
    }
  }

  /// Runs `body` as one step: what it reads on this device, in whatever store, is of one moment,
  /// and what it writes is committed when it returns, and announced as one change set.
  ///
  /// Within another transaction, or an update, it joins that one; when it throws, what it wrote is
  /// taken back and the outer one may go on. On a device that can only be read it is a snapshot.
  ///
  /// What a property's setter, or anything else that cannot throw, fails to write, the transaction
  /// throws when `body` has returned: the first of several failures. If `body` throws something
  /// else, that failure is reported. A write to another device is no part of it.
  ///
  /// - Parameters:
  ///   - durability: what the writes survive once this returns. Within another transaction
  ///     `powerSafe` holds for the whole of it.
  ///   - body: must not wait for another thread that uses this device, and must not write to
  ///     another device.
  /// - Throws: what `body` throws, or `KeepsakeError`; then nothing was written or announced. Only
  ///   when a `powerSafe` part of a `crashSafe` transaction could not be synced, everything is
  ///   written and announced, and may not survive a power cut.
  public func transaction<Value>(
    durability: Durability = .crashSafe, _ body: () throws -> Value
  ) throws -> Value {
    try transaction(durability, waiting: nil, body)
  }

  /// - Parameter limit: how long to wait for other processes at most; nil for as long as the device
  ///   does.
  package func transaction<Value>(
    _ durability: Durability, waiting limit: Duration?, _ body: () throws -> Value
  ) throws -> Value {
    // An error of the body comes through as it is, though an access throws its own type.
    var failure: (any Error)?
    func run() throws -> Value {
      do {
        return try core.throwingSetterFailures(body)
      } catch {
        failure = error
        throw error
      }
    }
    do throws(KeepsakeError) {
      return isReadOnly
        ? try core.snapshot(run) : try core.write(durability, waiting: limit) { _, _ in try run() }
    } catch {
      if let failure { throw failure }
      if !isReadOnly { core.tell(.failed(error.code)) }
      throw error
    }
  }
}

extension Device {
  /// Makes writes one after the other in one transaction, in their order; durable when it returns.
  /// Unless the device has observers, only one of them is in memory at a time, and 8 bytes of each
  /// key that changes.
  ///
  /// - Parameter body: calls its argument for each write; called with the file locked.
  /// - Returns: the number of keys that it has changed.
  /// - Throws: `KeepsakeError`, whose cause is an error of `body` that is of another type; then
  ///   nothing was written.
  package func write(
    each body: (_ write: (LocalWrite) throws -> Void) throws -> Void
  ) throws(KeepsakeError) -> Int {
    let isObserved = hasObservers
    return try core.write { connection, session in
      // By hashes with a secret seed: of a million keys two are taken for one with a chance of one
      // in thirty million.
      var changed: Set<Int> = []
      try body { write in
        let count = session.changes.count
        try session.add(write, connection, at: clock.milliseconds)
        guard let change = session.changes[count...].first else { return }
        changed.insert(Address(store: change.store, key: change.key).hashValue)
        if !isObserved { session.drop(after: count) }
      }
      return changed.count
    }
  }
}
