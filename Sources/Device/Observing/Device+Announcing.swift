// SPDX-License-Identifier: Apache-2.0
//
// A store notifies its own observers of changes of its layers, which are in no file.

package import KeepsakeValues

/// An observer that a store has added to its device.
package struct StoreObservation: Sendable {
  /// Unique on its device.
  package let id: Int
  package let token: ObservationToken
}

/// The change of a key's value by a reload of a layer.
package struct LayerChange: Sendable {
  let key: ByteText
  let old: StoredValue?
  let new: StoredValue?

  package init(_ key: ByteText, from old: StoredValue?, to new: StoredValue?) {
    (self.key, self.old, self.new) = (key, old, new)
  }
}

extension Device {
  /// As the public `observe`.
  ///
  /// - Parameter keys: nil for every commit, whatever it changed; then `handler` gets no changes.
  package func observe(
    store: String? = nil, keys: KeyFilter?,
    _ handler: @escaping @Sendable ([SettingChange]) -> Void,
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) -> StoreObservation {
    let core = core
    let scope = keys.map { Scope(store: store.map(ByteText.init), keys: $0) }
    let observer = Observer(scope: scope, handler: handler, onFailure: onFailure)
    let (id, failure) = core.shared.feed.add(observer, on: core.storage)
    if let failure { core.afterTransaction { observer.onFailure(failure) } }
    return StoreObservation(
      id: id, token: ObservationToken { core.shared.feed.remove(id) })
  }

  /// Puts what has changed besides the file into the queue for some observers of a store.
  package func announce(
    _ changes: [LayerChange], store: String, to observers: [StoreObservation]
  ) throws(KeepsakeError) {
    guard !changes.isEmpty, !observers.isEmpty else { return }
    let now = HybridTimestamp(milliseconds: clock.milliseconds)
    let set = try tables.look { connection in
      let replica = try ReplicaState(connection)
      return try changes.map { change in
        SettingChange(
          store: store, key: change.key.string, from: try TaggedCell(change.old),
          to: try TaggedCell(change.new), writer: replica.id, timestamp: now, reason: .reload,
          transaction: replica.sequenceNumber)
      }
    }
    core.shared.feed.observers.enqueue(set, for: Set(observers.map(\.id)))
  }
}
