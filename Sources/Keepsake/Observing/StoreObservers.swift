// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// The observers of a store, which are also notified of reloads of its layers.
final class StoreObservers: Sendable {
  private struct Entry: Sendable {
    /// Nil for every commit, whatever it changed.
    let keys: KeyFilter?
    let observation: StoreObservation
  }

  private let device: Device
  private let store: String
  private let failures: FailureLog
  /// By the numbers of the observations.
  private let entries = Mutex<[Int: Entry]>([:])

  /// - Parameter failures: reports changes that observers could not be notified of.
  init(_ device: Device, store: String, _ failures: FailureLog) {
    (self.device, self.store, self.failures) = (device, store, failures)
  }

  var isEmpty: Bool { entries.withLock(\.isEmpty) }

  /// The keys that are observed by their names.
  var names: [ByteText] { entries.withLock { $0.values.flatMap { $0.keys?.names ?? [] } } }

  /// - Parameter keys: nil for every commit, whatever it changed; then the change sets are empty.
  func add(
    _ keys: KeyFilter?, _ handler: @escaping @Sendable ([SettingChange]) -> Void
  ) -> ObservationToken {
    let observation = device.observe(store: store, keys: keys, handler) { [failures] in
      failures.report(.observe, $0)
    }
    let entry = Entry(keys: keys, observation: observation)
    entries.withLock { $0[observation.id] = entry }
    return ObservationToken { [self] in
      // Ends without the lock: the handler may retain objects that call this one.
      entries.withLock { $0.removeValue(forKey: observation.id) }?.observation.token.cancel()
    }
  }

  /// Notifies the observers of changes outside the file.
  func notify(_ changes: [LayerChange]) throws(KeepsakeError) {
    let observations = entries.withLock { $0.values.map(\.observation) }
    try device.announce(changes, store: store, to: observations)
  }
}

/// Keeps observations as long as this object lives.
final class RetainedObservations: Sendable {
  private let observations = Mutex<[ObjectIdentifier: ObservationToken]>([:])

  /// Begins an observation for `object`, unless there is one.
  func add(for object: AnyObject, _ begin: () -> ObservationToken) {
    let id = ObjectIdentifier(object)
    guard observations.withLock({ $0[id] == nil }) else { return }
    // Not with the lock: an observer that is notified at once may begin another.
    let observation = begin()
    observations.withLock { $0[id] = $0[id] ?? observation }
  }
}
