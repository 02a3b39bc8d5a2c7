// SPDX-License-Identifier: Apache-2.0
//
// A store at one moment, for a reader that keeps a copy of the store in memory and replaces it when
// an observer gets a change.

import KeepsakeDevice
package import KeepsakeValues

/// The values in force in a store at one moment.
package struct StoreMoment: Sendable {
  /// The values, without those that a layer cannot read.
  package let values: [ByteText: Readings]
  /// The number of the last change that it contains, as `SettingChange.transaction`.
  package let transaction: Int64
  /// The state before the values were read; nil if it is unknown.
  fileprivate let state: StoreState?

  /// Whether the store has not changed since.
  package var isCurrent: Bool { state?.isCurrent ?? false }
}

extension SettingsStore {
  /// The values in force, and those of properties that have none but their default. What a layer
  /// cannot give is reported and left out.
  ///
  /// - Throws: `KeepsakeError`, also within a transaction, whose writes may be taken back.
  package func moment() throws(KeepsakeError) -> StoreMoment {
    let device = device
    guard !isInTransaction else {
      throw KeepsakeError(
        .locked, path: device.path, "the settings are read within a transaction",
        cure: "read them when it has ended")
    }
    let state = backing.state
    let keys = backing.declaredKeys
    var (transaction, found) = try device.core.survey { connection in
      (try ReplicaState(connection).sequenceNumber, try backing.layers.allValues(and: keys))
    }
    backing.addDefaults(of: keys, to: &found)
    backing.report(found.unreadable)
    return StoreMoment(values: found.values, transaction: transaction, state: state)
  }

  /// Whether this thread is in a transaction of the device.
  package var isInTransaction: Bool { backing.device.core.versions.isInOurTransaction }

  /// Reports that the settings could not be read, where nothing can be thrown.
  package func reportUnread(_ error: any Error) { backing.reportReadAll(error) }
}
