// SPDX-License-Identifier: Apache-2.0
//
// All values of a store, for a reader that keeps a copy of the store in memory and replaces it when
// an observer gets a change.

import KeepsakeDevice
package import KeepsakeValues

/// The values in force in one version of a store.
package struct StoreValues: Sendable {
  /// The values, without those that a layer cannot read.
  package let values: [ByteText: ValueInForce]
  /// The number of the last change that they contain, as `SettingChange.transaction`.
  package let transaction: Int64
  /// The version before the values were read; nil if it is unknown.
  fileprivate let version: StoreVersion?

  /// Whether the store has not changed since.
  package var areCurrent: Bool { version?.isCurrent ?? false }
}

extension SettingsStore {
  /// Reads the values in force, and the defaults of properties without a value. A value that its
  /// layer cannot read is reported and left out.
  ///
  /// - Throws: `KeepsakeError`, also within a transaction, because its writes may be rolled back.
  package func readAllValues() throws(KeepsakeError) -> StoreValues {
    let device = device
    guard !isInTransaction else {
      throw KeepsakeError(
        .locked, path: device.path, "the settings are read within a transaction",
        cure: "read them when it has ended")
    }
    let version = backing.version
    let keys = backing.declaredKeys
    var (transaction, all) = try device.survey {
      (try device.replicaState().sequenceNumber, try backing.layers.allValues(and: keys))
    }
    backing.addDefaults(to: &all)
    backing.reportUnreadable(all.unreadable)
    return StoreValues(values: all.values, transaction: transaction, version: version)
  }

  /// Whether this thread is in a transaction of the device.
  package var isInTransaction: Bool { backing.device.versions.isInOurTransaction }
}
