// SPDX-License-Identifier: Apache-2.0

import KeepsakeStorage
package import KeepsakeValues
import Synchronization

/// Defaults of all stores that stay on a device, for as long as the device is open in this process.
/// They are never written: a process that has not registered them does not see them.
package final class RegisteredDefaults: Sendable {
  private let values = Mutex<[ByteText: StoredValue]>([:])
  private let layers: LayerVersion

  init(_ layers: LayerVersion) { self.layers = layers }

  /// Every default, at one moment.
  package var all: [ByteText: StoredValue] { values.withLock { $0 } }

  package subscript(key: ByteText) -> StoredValue? { values.withLock { $0[key] } }

  /// Adds defaults, all at once; what was registered before under one of their keys gives way.
  package func register(_ defaults: [ByteText: StoredValue]) {
    values.withLock { $0.merge(defaults) { _, new in new } }
    layers.change()
  }
}
