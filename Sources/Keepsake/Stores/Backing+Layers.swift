// SPDX-License-Identifier: Apache-2.0
//
// What a store does with layers that were given to it.

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

  /// - Returns: what is to be kept as long as the layer is followed.
  func follow(_ layer: SettingsLayer) -> ObservationToken {
    let token = layer.observe({ [weak self] in self?.reloadAfterTransaction() }) {
      [weak self] error in self?.report(.reload, error)
    }
    // What has changed since the layers were made.
    reloadAfterTransaction()
    return token
  }

  /// Within a transaction of this thread what the layers hide or show may be taken back, with
  /// what observers would be told of it.
  private func reloadAfterTransaction() {
    device.core.afterTransaction { [weak self] in self?.reload() }
  }

  /// Takes what the given layers give now, and notifies the observers of what has changed.
  private func reload() {
    let result = Result {
      // The connection first: who has it already may come to the lock.
      try device.core.survey { _ in
        // One after the other, or an observer would hear of the older one last.
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
