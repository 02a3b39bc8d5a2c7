// SPDX-License-Identifier: Apache-2.0
//
// Swift's Observation (SE-0395) for settings. Only classes that conform to `Observable` pay for it.

import KeepsakeDevice
import KeepsakeValues
import Observation
import Synchronization

/// The keys of a setting, as an object that `withObservationTracking` tracks when the setting is
/// read.
final class TrackedKey: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  /// The property that the registrar tracks, in place of the value.
  private var value: Void { () }

  func access() { registrar.access(self, keyPath: \.value) }

  func didChange() { registrar.withMutation(of: self, keyPath: \.value) {} }
}

/// The tracked keys of one store.
final class TrackedKeys: Sendable {
  /// A limit of memory, for callers that read ever new keys.
  private static let limit = 10_000

  /// Tracks reads of all keys, and of single keys beyond the limit.
  let everything = TrackedKey()

  private struct State {
    var keys: [KeyFilter: TrackedKey] = [:]
    var byName: [ByteText: [TrackedKey]] = [:]
  }

  private let state = Mutex(State())

  /// Returns one object for all settings with these keys.
  func key(of names: [String]) -> TrackedKey {
    let filter = KeyFilter.keys(names)
    return state.withLock { state in
      if let key = state.keys[filter] { return key }
      guard state.keys.count < Self.limit else { return everything }
      let key = TrackedKey()
      state.keys[filter] = key
      for name in names { state.byName[ByteText(name), default: []].append(key) }
      return key
    }
  }

  func didChange(_ changes: [SettingChange]) {
    let changed = state.withLock { state in
      changes.flatMap { state.byName[ByteText($0.key)] ?? [] }
    }
    var notified: Set<ObjectIdentifier> = []
    // Without the lock: a notified observer reads again, and may track.
    for key in changed where notified.insert(ObjectIdentifier(key)).inserted { key.didChange() }
    everything.didChange()
  }
}
