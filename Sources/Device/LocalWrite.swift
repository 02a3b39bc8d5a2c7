// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// One set (or, without a value, delete) of a key on this device.
package struct LocalWrite: Sendable {
  package var address: Address
  package var value: StoredValue?
  /// Stands in for the device's clock, in milliseconds since 1970.
  package var wallClock: Int64?

  package init(store: String, key: String, value: StoredValue?, wallClock: Int64? = nil) {
    address = Address(store: store, key: key)
    self.value = value
    self.wallClock = wallClock
  }
}

extension Device {
  /// Makes all of these writes in one transaction, in their order; durable when it returns.
  ///
  /// An equal set announces nothing. In a store that is not synced it also writes nothing; in a
  /// synced one it takes a new stamp, because it is the last write.
  ///
  /// - Returns: the net change of each key.
  /// - Throws: `KeepsakeError`; then nothing was written.
  @discardableResult
  package func write(_ writes: [LocalWrite]) throws(KeepsakeError) -> [Change] {
    try core.write { connection in
      var batch = try LocalBatch(connection, clock: clock)
      for write in writes { try batch.add(write) }
      let changes = try batch.commit()
      return (changes, changes)
    }
  }
}

extension Device {
  /// Reads a key and writes what `body` makes of it, as one step: no other writer comes between.
  ///
  /// - Parameter body: gets the value, nil for none; returns the new one, nil to delete. What it
  ///   reads and writes on this device joins the step. It must not wait for another thread that
  ///   uses this device, and must not write to another device.
  /// - Throws: what `body` throws, or `KeepsakeError`; then nothing was written.
  package func update(
    store: String, key: String, _ body: (StoredValue?) throws -> StoredValue?
  ) throws {
    // An error of the caller's keeps its type; everything else is the device's.
    var failure: (any Error)?
    do {
      try core.write { connection in
        let old = try connection.entry(at: Address(store: store, key: key))
        let value: StoredValue?
        do {
          value = try body(old?.content.value)
        } catch {
          failure = error
          throw error
        }
        var batch = try LocalBatch(connection, clock: clock)
        try batch.add(LocalWrite(store: store, key: key, value: value))
        return ((), try batch.commit())
      }
    } catch {
      throw failure ?? error
    }
  }
}

private struct LocalBatch {
  private let connection: Connection
  private let clock: WallClock
  private var replica: ReplicaState
  /// What each key held before the batch, and the entry it got.
  private var touched: [Address: (before: TaggedCell, after: Entry)] = [:]
  private var order: [Address] = []
  private var filled: Int64 = 0

  init(_ connection: Connection, clock: WallClock) throws {
    self.connection = connection
    self.clock = clock
    replica = try ReplicaState(connection)
  }

  mutating func add(_ write: LocalWrite) throws {
    try check(write.address)
    let content = try TaggedCell(write.value)
    let old = try touched[write.address]?.after ?? connection.entry(at: write.address)
    let isSynced = StoreName.isSynced(write.address.store.string)
    guard isSynced || (old?.content ?? .tombstone) != content else { return }
    let entry = Entry(
      write.address, content, stamp: try nextStamp(write, replacing: old), origin: replica.id)
    replica.last = entry.stamp
    try Door.fill(connection, entry)
    filled += 1
    if touched[write.address] == nil { order.append(write.address) }
    let before = touched[write.address]?.before ?? old?.content ?? .tombstone
    touched[write.address] = (before, entry)
  }

  mutating func commit() throws -> [Change] {
    guard filled > 0 else { return [] }
    _ = try Door.admit(connection, after: replica.lseq)
    let dropped = try dropLocalTombstones()
    // Dropping rows may take the newest entry away, and with it what it said of the counters.
    replica.lseq += filled
    if dropped { try replica.save(connection) }
    return order.compactMap(change)
  }

  /// A store that does not travel has nobody to tell of a deletion.
  private func dropLocalTombstones() throws -> Bool {
    var dropped = false
    for (address, write) in touched
    where write.after.content.isTombstone && !StoreName.isSynced(address.store.string) {
      try connection.run(
        "DELETE FROM entry WHERE store = ?1 AND key = ?2",
        [.text(address.store.string), .text(address.key.string)])
      dropped = true
    }
    return dropped
  }

  private func change(_ address: Address) -> Change? {
    guard let (before, after) = touched[address], before != after.content else { return nil }
    return Change(
      store: address.store.string, key: address.key.string, old: before.value,
      new: after.content.value, origin: after.origin, stamp: after.stamp, reason: .local)
  }

  private func nextStamp(_ write: LocalWrite, replacing old: Entry?) throws -> HybridTimestamp {
    let now = write.wallClock ?? clock.milliseconds
    let stamp = HybridTimestamp.next(after: replica.last, replacing: old?.stamp, wallClock: now)
    guard let stamp else {
      throw KeepsakeError(
        .corrupt, path: connection.path, "its clock is at the end of time",
        cure: "restore a backup of it")
    }
    return stamp
  }

  private func check(_ address: Address) throws {
    guard !address.key.string.isEmpty, !address.store.string.isEmpty else {
      let what = address.key.string.isEmpty ? "key" : "store name"
      throw KeepsakeError(
        .invalidKey, path: connection.path, "the \(what) is empty",
        cure: "use a \(what) of at least one character")
    }
  }
}
