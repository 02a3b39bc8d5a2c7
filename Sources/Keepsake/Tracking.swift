// SPDX-License-Identifier: Apache-2.0
//
// Swift's Observation (SE-0395) for settings. A class that says it is `Observable` pays for it; no
// other does.

import KeepsakeDevice
import KeepsakeValues
import Observation
import Synchronization

/// What `withObservationTracking` tracks when a setting of an `Observable` class is read: the key.
final class TrackedKey: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  /// Stands for the value.
  private var value: Void { () }

  func access() { registrar.access(self, keyPath: \.value) }

  func didChange() { registrar.withMutation(of: self, keyPath: \.value) {} }
}

/// The tracked keys of one store.
final class Tracking: Sendable {
  private let keys = Mutex<[ByteText: TrackedKey]>([:])

  /// The same for all settings of a key.
  func key(_ name: String) -> TrackedKey {
    let name = ByteText(name)
    return keys.withLock { keys in
      let key = keys[name] ?? TrackedKey()
      keys[name] = key
      return key
    }
  }

  func didChange(_ changes: [SettingChange]) {
    for change in changes {
      // A notified observer reads again, and may track.
      keys.withLock { $0[ByteText(change.key)] }?.didChange()
    }
  }
}
