// SPDX-License-Identifier: Apache-2.0
//
// For who keeps a copy of a store in memory, and brings it up to date by the changes that observers
// get: the store at one moment, and what a change makes of it.

package import KeepsakeDevice
package import KeepsakeValues

/// What is in force in a store, of one moment.
package struct StoreMoment: Sendable {
  package let values: [ByteText: StoredValue]
  /// The keys of those that must not be shown.
  package let secrets: Set<ByteText>
  /// The number of the last change that it contains, as `SettingChange.transaction`.
  package let transaction: Int64
  /// Of the layers in memory, which change without one.
  package let layers: Int
  package let device: Device
}

extension SettingsStore {
  /// The values in force, and those of properties that have none but their default.
  ///
  /// - Parameter key: nil for all.
  /// - Throws: `KeepsakeError`, also within a transaction, whose writes may be taken back.
  package func moment(of key: String?) throws(KeepsakeError) -> StoreMoment {
    let device = backing.device
    guard !device.core.versions.isInOurTransaction else {
      throw KeepsakeError(
        .locked, path: device.path, "the settings are read within a transaction",
        cure: "read them when it has ended")
    }
    let layers = layersVersion
    return try device.core.survey { connection in
      let transaction = try ReplicaState(connection).lseq
      var values: [ByteText: StoredValue] = [:]
      if let key {
        values[ByteText(key)] = try backing.valueOrDefault(key)
      } else {
        values = try backing.valuesAndDefaults()
      }
      return StoreMoment(
        values: values, secrets: Set(values.keys.filter(isSecret)), transaction: transaction,
        layers: layers, device: device)
    }
  }

  /// How often the layers in memory have changed.
  package var layersVersion: Int { backing.device.core.shared.layers.value }

  /// Whether this thread is in a transaction of the device.
  package var isInTransaction: Bool { backing.device.core.versions.isInOurTransaction }

  /// What is in force where a value has been set, or none: of the moment of a change.
  package func value(_ key: ByteText, set value: StoredValue?) throws(KeepsakeError) -> StoredValue?
  {
    try backing.layers.value(key, set: value) ?? backing.declaredDefault(key)?.value
  }

  /// Whether a given layer has a secret there.
  package func isSecret(_ key: ByteText) -> Bool { backing.layers.isSecret(key) }

  /// Reports that the settings could not be read, where nothing can be thrown.
  package func reportUnread(_ error: any Error) { backing.reportReadAll(error) }
}
