// SPDX-License-Identifier: Apache-2.0
//
// Values from outside of the device, as a layer of a store. Another module provides them:
// `ConfigurationKeepsake` makes layers of providers of swift-configuration.
//
// Threading: a store has the values of one moment, and takes later ones when its provider calls.

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
/// It may be given to several stores.
public final class SettingsLayer: Sendable {
  /// Where it is among the layers.
  package enum Place: Sendable {
    /// Above everything: its keys cannot be set.
    case managed
    /// Below what was set, here and in added suites.
    case defaults
  }

  /// What it gives at one moment.
  struct Moment: Sendable {
    let place: Place
    let keys: KeyFilter
    let values: any ProvidedValues
    /// How often the values were replaced.
    let count: Int

    subscript(key: ByteText) -> ProvidedValue? {
      guard keys.contains(key), var value = values.value(key.string) else { return nil }
      value.source.isManaged = place == .managed
      // Versions of other values are distinguished by the values.
      value.source.version = value.source.isSecret ? count : 0
      return value
    }
  }

  private struct State {
    var moment: Moment
    var observers: [Int: Observer] = [:]
    var next = 0
    var ends: [@Sendable () -> Void] = []
  }

  private struct Observer: Sendable {
    let change: @Sendable () -> Void
    let failure: @Sendable (any Error) -> Void
  }

  package let place: Place
  private let state: Mutex<State>

  /// - Parameter keys: the layer has no values for others.
  package init(_ place: Place, keys: KeyFilter = .all, _ values: some ProvidedValues) {
    self.place = place
    state = Mutex(State(moment: Moment(place: place, keys: keys, values: values, count: 0)))
  }

  deinit {
    for end in state.withLock({ $0.ends }) { end() }
  }

  var moment: Moment { state.withLock { $0.moment } }

  /// Replaces the values, and tells the stores, which notify their observers before this returns;
  /// within a transaction of this thread a store goes on with the values before until it has ended.
  ///
  /// - Parameter change: is called again when another thread has replaced them meanwhile, so that
  ///   what it reads is never older than what it replaces.
  package func reload(_ change: (any ProvidedValues) -> any ProvidedValues) {
    var observers: [Int: Observer]?
    while observers == nil {
      let old = moment
      let new = Moment(
        place: old.place, keys: old.keys, values: change(old.values), count: old.count + 1)
      observers = state.withLock { state in
        guard state.moment.count == old.count else { return nil }
        state.moment = new
        return state.observers
      }
    }
    for observer in (observers ?? [:]).values { observer.change() }
  }

  /// Tells the stores that changes are not heard of any more.
  package func report(_ error: any Error) {
    for observer in state.withLock({ $0.observers }).values { observer.failure(error) }
  }

  /// - Parameter end: is called when no store has the layer any more.
  package func whenReleased(_ end: @escaping @Sendable () -> Void) {
    state.withLock { $0.ends.append(end) }
  }

  /// The result must be kept; it keeps this layer.
  func observe(
    _ change: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (any Error) -> Void
  ) -> ObservationToken {
    let id = state.withLock { state in
      defer { state.next += 1 }
      state.observers[state.next] = Observer(change: change, failure: onFailure)
      return state.next
    }
    return ObservationToken {
      // What the observer holds goes after the lock.
      _ = self.state.withLock { $0.observers.removeValue(forKey: id) }
    }
  }
}

/// What a layer gives, of one moment.
package protocol ProvidedValues: Sendable {
  /// Nil where it has none. It reads no file.
  func value(_ key: String) -> ProvidedValue?
}

/// A value that a layer gives.
package struct ProvidedValue: Sendable {
  /// What it is as each of the types that it can be had as: first for who asks by key, then in the
  /// order in which a setting tries them. None where it cannot be given.
  let readings: [StoredValue]
  var source: SettingExplanation.Provider

  /// - Parameters:
  ///   - readings: not empty, and each is one that a store can hold.
  ///   - provider: who has it.
  ///   - key: by which it is known there.
  ///   - isSecret: whether it must not be shown.
  package init(_ readings: [StoredValue], provider: String, key: String, isSecret: Bool) {
    self.readings = readings
    source = SettingExplanation.Provider(name: provider, key: key, isSecret: isSecret)
  }

  /// One that is there and cannot be given.
  ///
  /// - Parameter problem: why; it does not contain the value.
  package init(unreadable problem: String, provider: String, key: String) {
    readings = []
    source = SettingExplanation.Provider(name: provider, key: key, isSecret: false)
    source.problem = problem
  }

  /// - Throws: `KeepsakeError` where it cannot be given.
  func value(at path: String) throws(KeepsakeError) -> StoredValue {
    guard let first = readings.first else {
      throw KeepsakeError(
        .invalidValue, path: path, "\(source) cannot be read: \(source.problem ?? "")",
        cure: "give another value there")
    }
    return first
  }
}
