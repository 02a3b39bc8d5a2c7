// SPDX-License-Identifier: Apache-2.0
//
// For who keeps a copy of a store in memory, and reads it again when observers get a change: the
// store at one moment.

package import KeepsakeDevice
package import KeepsakeValues

/// What is in force under a key, and what its layer says of it.
package struct ValueInForce: Sendable, Equatable {
  package let value: StoredValue
  /// What it can be read as besides, in the order in which that is tried.
  package let others: [StoredValue]
  /// Whether a given layer has a secret there, in force or not.
  package let isSecret: Bool

  package init(_ value: StoredValue, others: [StoredValue] = [], isSecret: Bool = false) {
    (self.value, self.others, self.isSecret) = (value, others, isSecret)
  }
}

/// What is in force in a store, of one moment.
package struct StoreMoment: Sendable {
  /// Without those that a layer cannot give.
  package let values: [ByteText: ValueInForce]
  /// The number of the last change that it contains, as `SettingChange.transaction`.
  package let transaction: Int64
  /// Of the layers in memory, which change without one.
  package let layers: Int
}

extension SettingsStore {
  /// The values in force, and those of properties that have none but their default. What a layer
  /// cannot give is reported and left out.
  ///
  /// - Parameter key: nil for all.
  /// - Throws: `KeepsakeError`, also within a transaction, whose writes may be taken back.
  package func moment(of key: String?) throws(KeepsakeError) -> StoreMoment {
    let device = device
    guard !device.core.versions.isInOurTransaction else {
      throw KeepsakeError(
        .locked, path: device.path, "the settings are read within a transaction",
        cure: "read them when it has ended")
    }
    let layers = device.core.shared.layers.value
    var (transaction, found) = try device.core.survey { connection in
      (try ReplicaState(connection).sequenceNumber, try inLayers(key))
    }
    backing.addDefaults(of: key.map { [ByteText($0)] } ?? backing.declaredKeys, to: &found)
    backing.report(found.unreadable)
    return StoreMoment(values: found.values, transaction: transaction, layers: layers)
  }

  private func inLayers(_ key: String?) throws(KeepsakeError) -> Layers.Values {
    let layers = backing.layers
    guard let key else { return try layers.allValues(and: backing.declaredKeys) }
    let text = ByteText(key)
    return switch try Layers.found({ () throws(KeepsakeError) in try layers.inForce(text) }) {
    case .success(let value): Layers.Values(values: value.map { [text: $0] } ?? [:])
    case .failure(let error): Layers.Values(unreadable: [text: error])
    }
  }

  /// What is in force under a key, in the end the default of the property that has it.
  package func valueInForce(_ key: String) throws(KeepsakeError) -> ValueInForce? {
    try backing.layers.inForce(ByteText(key)) ?? backing.declaredInForce(ByteText(key))
  }

  /// Calls `handler` as `observe` does.
  ///
  /// - Parameter refresh: is called when the layers of the store were reloaded, before the reload
  ///   returns.
  package func observe(
    _ keys: KeyFilter, _ handler: @escaping @Sendable ([SettingChange]) -> Void,
    refresh: @escaping @Sendable () -> Void
  ) -> ObservationToken {
    backing.observers.add(keys, handler, refresh: refresh)
  }

  /// How often the layers in memory have changed.
  package var layersVersion: Int { backing.device.core.shared.layers.value }

  /// Whether this thread is in a transaction of the device.
  package var isInTransaction: Bool { backing.device.core.versions.isInOurTransaction }

  /// Reports that the settings could not be read, where nothing can be thrown.
  package func reportUnread(_ error: any Error) { backing.reportReadAll(error) }
}
