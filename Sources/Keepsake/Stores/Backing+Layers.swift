// SPDX-License-Identifier: Apache-2.0
//
// How a store follows the layers that were given to it.

import KeepsakeDevice
import KeepsakeValues

extension Backing {
  /// The provider of a key's managed value, which is above what can be set; nil for none.
  func manager(of key: String) -> SettingExplanation.Provider? { layers.manager(of: ByteText(key)) }

  /// - Throws: `KeepsakeError` for a key that is managed.
  func refuseManaged(_ key: String) throws(KeepsakeError) {
    guard let manager = manager(of: key) else { return }
    throw KeepsakeError(
      .managed, path: device.path, "the key \"\(key)\" is managed by \(manager)",
      cure: "change it there; isManaged tells before")
  }

  /// - Returns: a token to keep as long as the layer is followed.
  func follow(_ layer: SettingsLayer) -> ObservationToken {
    let token = layer.observe({ [weak self] in self?.reloadAfterTransaction() }) {
      [weak self] error in self?.report(.reload, error)
    }
    // The layer may have changed since the layers were made.
    reloadAfterTransaction()
    return token
  }

  /// Waits for the end of this thread's transaction: it may be rolled back, and with it the values
  /// that observers would be notified of.
  private func reloadAfterTransaction() {
    device.core.afterTransaction { [weak self] in self?.reload() }
  }

  /// Reads the given layers' present values, and notifies the observers of changes.
  private func reload() {
    let result = Result {
      // Takes the connection before the lock: a thread that has the connection may take the lock.
      try device.core.survey { _ in
        // One reload at a time, or an observer could get the older change last.
        try reloading.withLock { _ in
          try observers.tell(
            layers.reload { observers.isEmpty ? nil : declaredKeys + observers.names })
        }
      }
    }
    if case .failure(let error) = result {
      layers.renew()
      report(.reload, error)
    }
    device.core.shared.tellObservers()
  }
}
