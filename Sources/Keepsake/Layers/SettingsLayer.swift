// SPDX-License-Identifier: Apache-2.0
//
// A layer of a store whose values come from outside of the device. Another module makes them:
// `ConfigurationKeepsake` makes layers of providers of swift-configuration.
//
// Threading: a store reads a snapshot of the values, and takes a new snapshot when it is notified.

import KeepsakeDevice
package import KeepsakeValues
import Synchronization

/// Values that a store reads and does not keep, above what was set or below it. The module
/// `ConfigurationKeepsake` makes one of providers of swift-configuration:
///
/// ```swift
/// let managed = SettingsLayer.managed(by: [provider])
/// let settings = try AppSettings(on: device, layers: [managed])
/// ```
///
/// Several stores may have the same layer.
public final class SettingsLayer: Sendable {
  /// The position among the layers of a store.
  package enum Place: Sendable {
    /// Above everything: its keys cannot be set.
    case managed
    /// Below what was set, here and in added suites.
    case defaults
  }

  /// The values at one time.
  struct Snapshot: Sendable {
    let place: Place
    let keys: KeyFilter
    let values: any ProvidedValues
    /// How often the values were replaced.
    let version: Int

    subscript(key: ByteText) -> ProvidedValue? {
      guard keys.contains(key), var value = values.value(key.string) else { return nil }
      value.source.isManaged = place == .managed
      // Versions of other values are distinguished by the values.
      value.source.version = value.source.isSecret ? version : 0
      return value
    }
  }

  enum Event: Sendable {
    case reloaded
    /// Later changes of the values will not be noticed.
    case failed(any Error)
  }

  package let place: Place
  private let current: Mutex<Snapshot>
  private let observers = Handlers<Event>()
  private let tokens = Mutex<[ObservationToken]>([])

  /// - Parameter keys: the layer has no values for other keys.
  package init(_ place: Place, keys: KeyFilter = .all, _ values: some ProvidedValues) {
    self.place = place
    current = Mutex(Snapshot(place: place, keys: keys, values: values, version: 0))
  }

  var snapshot: Snapshot { current.withLock { $0 } }

  /// Replaces the values and notifies the stores, which notify their observers before this returns.
  /// Within a transaction of this thread, a store keeps the former values until the transaction has
  /// ended.
  ///
  /// - Parameter change: returns the new values. It is called again if another thread has replaced
  ///   the former values meanwhile, so that newer values are never replaced by older ones.
  package func reload(_ change: (any ProvidedValues) -> any ProvidedValues) {
    var isDone = false
    while !isDone {
      let old = snapshot
      let new = Snapshot(
        place: old.place, keys: old.keys, values: change(old.values), version: old.version + 1)
      isDone = current.withLock { current in
        guard current.version == old.version else { return false }
        current = new
        return true
      }
    }
    observers.notify(.reloaded)
  }

  /// Reports to the stores that later changes of the values will not be noticed.
  package func report(_ error: any Error) { observers.notify(.failed(error)) }

  /// Retains a token as long as a store has the layer.
  package func retain(_ token: ObservationToken) { tokens.withLock { $0.append(token) } }

  /// Calls `handler` until the result is released.
  func observe(_ handler: @escaping @Sendable (Event) -> Void) -> ObservationToken {
    observers.add(handler)
  }
}

/// The values of a layer at one time.
package protocol ProvidedValues: Sendable {
  /// The value of a key; nil if there is none. Reads no file.
  func value(_ key: String) -> ProvidedValue?
}

/// The value of a key in a layer.
package struct ProvidedValue: Sendable {
  /// The value as each type that it can be read as: first the reading for reads by key, then those
  /// that a setting tries, in this order. Empty if the value cannot be read.
  let readings: [StoredValue]
  var source: SettingExplanation.Provider

  /// - Parameters:
  ///   - readings: not empty, and a store can hold each of them.
  ///   - provider: the provider's name.
  ///   - key: the provider's own name of the key.
  ///   - isSecret: whether the value must not be shown.
  package init(_ readings: [StoredValue], provider: String, key: String, isSecret: Bool) {
    self.readings = readings
    source = SettingExplanation.Provider(name: provider, key: key, isSecret: isSecret)
  }

  /// A value that exists but cannot be read.
  ///
  /// - Parameter problem: the reason; it does not contain the value.
  package init(unreadable problem: String, provider: String, key: String) {
    readings = []
    source = SettingExplanation.Provider(name: provider, key: key, isSecret: false)
    source.problem = problem
  }
}
