// SPDX-License-Identifier: Apache-2.0
//
// The operations on two devices by which a store moves its observers from one to the other.

package import KeepsakeValues

/// An observer of one store on one device.
package struct StoreObservation: Sendable {
  let id: Int
  /// Must not be released within an access of the device: the release waits for the thread that
  /// watches other processes, which may be waiting for the connection.
  package let token: ObservationToken
  /// Why changes of other processes cannot be read now. The caller reports it when nothing is
  /// locked.
  package let failure: KeepsakeError?
}

/// The values of a store at one moment.
package struct StoreContents: Sendable {
  fileprivate let entries: [ByteText: Entry]
  fileprivate let replica: ReplicaState
}

/// How a store on one device differs from the same store on another.
package struct AccountDifference {
  private let store: String
  private let old: StoreContents
  private let new: StoreContents
  /// For observers that have received every change on the old device.
  private let whole: [SettingChange]

  package init(store: String, from old: StoreContents, to new: StoreContents) {
    (self.store, self.old, self.new) = (store, old, new)
    whole = Self.changes(store, from: old.entries.mapValues(\.content), to: new)
  }

  /// The changes of some keys, each from the value of which an observer knows.
  ///
  /// - Parameters:
  ///   - keys: nil for none.
  ///   - missed: the changes on the old device that the observer has not received, in their order.
  package func changes(
    of keys: KeyFilter?, missing missed: [SettingChange]
  ) -> [SettingChange] {
    guard let keys else { return [] }
    var changes = whole
    if !missed.isEmpty {
      var known = old.entries.mapValues(\.content)
      for change in missed.reversed() { known[ByteText(change.key)] = change.before }
      changes = Self.changes(store, from: known, to: new)
    }
    return changes.filter { keys.contains(ByteText($0.key)) }
  }

  private static func changes(
    _ store: String, from known: [ByteText: TaggedCell], to new: StoreContents
  ) -> [SettingChange] {
    Set(known.keys).union(new.entries.keys).sorted().compactMap { key in
      let entry = new.entries[key]
      let before = known[key]?.ifValue ?? .tombstone
      let after = entry?.content.ifValue ?? .tombstone
      guard before != after else { return nil }
      return SettingChange(
        store: store, key: key.string, from: before, to: after,
        writer: entry?.origin ?? new.replica.id, timestamp: entry?.timestamp ?? new.replica.last,
        reason: .account, transaction: new.replica.lseq)
    }
  }
}

/// A device that a store moves from or to, by the connection through which its observers are
/// notified, which is another handle's where this one only reads.
package struct SwitchedDevice {
  fileprivate let device: Device
  fileprivate let storage: Storage

  package init(_ device: Device) {
    self.device = device
    storage = device.core.shared.feed.storage(or: device.core.storage)
  }

  /// Uses the connections of two at once, always taken in the same order: else two threads might
  /// wait for each other.
  package static func access<Value>(
    _ a: SwitchedDevice, _ b: SwitchedDevice, _ body: () throws -> Value
  ) throws(KeepsakeError) -> Value {
    let isInOrder = ObjectIdentifier(a.storage) < ObjectIdentifier(b.storage)
    let (first, second) = isInOrder ? (a, b) : (b, a)
    return try first.storage.access { _ in try second.storage.access { _ in try body() } }
  }

  /// Observes a store for an observer whose store may move to another device.
  ///
  /// - Parameters:
  ///   - keys: nil for every commit; then `handler` gets no changes.
  ///   - handler: also gets the number of the change set, for `undelivered`.
  ///   - onFailure: gets what fails later.
  package func observe(
    store: String, _ keys: KeyFilter?,
    _ handler: @escaping @Sendable ([SettingChange], Int) -> Void,
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) -> StoreObservation {
    let scope = keys.map { Scope(store: ByteText(store), keys: $0) }
    return add(Observer(scope: scope, handler: handler, onFailure: onFailure))
  }

  func add(_ observer: Observer) -> StoreObservation {
    let core = device.core
    let (id, failure) = core.shared.feed.add(observer, on: storage)
    let token = ObservationToken { core.shared.feed.remove(id) }
    return StoreObservation(id: id, token: token, failure: failure)
  }

  /// The contents of a store within an access, after which observers are notified of exactly the
  /// commits that the contents lack.
  ///
  /// - Parameter newcomers: the last observers that were added, which learn of the contents by
  ///   other means, and get no older commits.
  package func contents(
    store: String, before newcomers: [StoreObservation] = []
  ) throws(KeepsakeError) -> StoreContents {
    let end = newcomers.map(\.id).min()
    let feed = device.core.shared.feed
    return try storage.access { connection in
      try feed.read(connection, storage.versions, before: end) { connection in
        var entries: [ByteText: Entry] = [:]
        try connection.forEachEntry(store: store) { entries[$0.address.key] = $0 }
        return StoreContents(entries: entries, replica: try ReplicaState(connection))
      }
    }
  }
}

extension Device {
  /// The changes that an observer has not received yet, in the order in which it would.
  ///
  /// - Parameter number: of the last change set that it received; nil for none.
  package func undelivered(
    to observation: StoreObservation, after number: Int?
  ) -> [SettingChange] {
    core.shared.feed.observers.undelivered(to: observation.id, after: number ?? -1)
  }

  /// Puts what has changed besides the file into the queue for some observers of a store.
  package func announce(
    _ changes: [(key: ByteText, old: StoredValue?, new: StoredValue?)], store: String,
    to observers: [StoreObservation]
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
}
