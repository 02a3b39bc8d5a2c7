// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// An observer of one store who may move to another device.
package struct StoreObserver: Sendable {
  /// Nil for every commit.
  package let keys: KeyFilter?
  let handler: @Sendable ([SettingChange]) -> Void
  package let onFailure: @Sendable (KeepsakeError) -> Void

  package init(
    keys: KeyFilter?, handler: @escaping @Sendable ([SettingChange]) -> Void,
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    (self.keys, self.handler, self.onFailure) = (keys, handler, onFailure)
  }
}

/// Where an observer of a store is on a device.
package struct Newcomer: Sendable {
  let id: Int
  package let observation: ObservationToken
}

extension Core {
  /// Uses two connections at once, always taken in the same order: else two threads might wait for
  /// each other.
  package static func access<Value>(
    _ a: Core, _ b: Core, _ body: () throws -> Value
  ) throws(KeepsakeError) -> Value {
    let (first, second) = ObjectIdentifier(a) < ObjectIdentifier(b) ? (a, b) : (b, a)
    return try first.access { _ in try second.access { _ in try body() } }
  }
}

extension Device {
  /// The live values of a store, at one moment.
  package func values(store: String) throws(KeepsakeError) -> [ByteText: TaggedCell] {
    var values: [ByteText: TaggedCell] = [:]
    try forEachEntry(store: store) { values[$0.address.key] = $0.content.ifValue }
    return values
  }

  /// Observes a store for an observer whose store may be switched to another device.
  ///
  /// - Returns: what must not be released within an access of this device: the release waits for
  ///   the thread that watches other processes, which may be waiting for the connection.
  package func observe(_ observer: StoreObserver, store: String) -> Newcomer {
    let id = core.shared.feed.add(
      Observer(
        scope: observer.keys.map { Scope(store: ByteText(store), keys: $0) },
        handler: observer.handler, onFailure: observer.onFailure), on: core.storage)
    let observation = ObservationToken { [core] in core.shared.feed.remove(id) }
    return Newcomer(id: id, observation: observation)
  }

  /// Notifies newcomers first, by `tellObservers`, how the store here differs from what they know.
  ///
  /// - Parameters:
  ///   - known: the values there.
  ///   - move: runs before the notification, when nothing can fail any more.
  package func adopt(
    _ newcomers: [Newcomer], store: String, knowing known: [ByteText: TaggedCell],
    _ move: () -> Void
  ) throws(KeepsakeError) {
    // This process cannot commit between the reading and the notification.
    try core.access { _ in
      let changes = try core.read { try difference($0, store: store, from: known) }
      move()
      core.shared.feed.observers.enqueue(
        changes, for: Set(newcomers.map(\.id)), isCommit: true)
    }
  }

  /// Puts what has changed besides the file into the queue for some observers of a store.
  package func announce(
    _ changes: [(key: ByteText, old: StoredValue?, new: StoredValue?)], store: String,
    to observers: [Newcomer]
  ) throws(KeepsakeError) {
    guard !changes.isEmpty, !observers.isEmpty else { return }
    let now = HybridTimestamp(milliseconds: clock.milliseconds)
    let set = try core.look { connection in
      let replica = try ReplicaState(connection)
      return try changes.map { change in
        SettingChange(
          store: store, key: change.key.string, from: try TaggedCell(change.old),
          to: try TaggedCell(change.new), writer: replica.id, timestamp: now, reason: .reload,
          transaction: replica.lseq)
      }
    }
    core.shared.feed.observers.enqueue(set, for: Set(observers.map(\.id)))
  }

  private func difference(
    _ connection: Connection, store: String, from known: [ByteText: TaggedCell]
  ) throws -> [SettingChange] {
    let replica = try ReplicaState(connection)
    var there: [ByteText: Entry] = [:]
    try forEachEntry(store: store) { there[$0.address.key] = $0 }
    return Set(known.keys).union(there.keys).sorted().compactMap { key in
      let entry = there[key]
      let (old, new) = (known[key] ?? .tombstone, entry?.content ?? .tombstone)
      guard old != new else { return nil }
      return SettingChange(
        store: store, key: key.string, from: old, to: new,
        writer: entry?.origin ?? replica.id, timestamp: entry?.timestamp ?? replica.last,
        reason: .account, transaction: replica.lseq)
    }
  }
}
