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
  /// Reports changes that observers could not be notified of.
  private let report: @Sendable (any Error) -> Void
  /// By the numbers of the observations.
  private let entries = Mutex<[Int: Entry]>([:])

  init(_ device: Device, store: String, report: @escaping @Sendable (any Error) -> Void) {
    (self.device, self.store, self.report) = (device, store, report)
  }

  var isEmpty: Bool { entries.withLock(\.isEmpty) }

  /// The keys that are observed by their names.
  var names: [ByteText] { entries.withLock { $0.values.flatMap { $0.keys?.names ?? [] } } }

  /// - Parameter keys: nil for every commit, whatever it changed; then the change sets are empty.
  func add(
    _ keys: KeyFilter?, _ handler: @escaping @Sendable ([SettingChange]) -> Void
  ) -> ObservationToken {
    let observation = device.observe(store: store, keys: keys, handler) { [report] in report($0) }
    let entry = Entry(keys: keys, observation: observation)
    entries.withLock { $0[observation.id] = entry }
    return ObservationToken { [self] in
      // Ends without the lock: what the handler holds may call us.
      entries.withLock { $0.removeValue(forKey: observation.id) }?.observation.token.cancel()
    }
  }

  /// Notifies the observers of changes outside the file.
  func tell(
    _ changes: [(key: ByteText, old: StoredValue?, new: StoredValue?)]
  ) throws(KeepsakeError) {
    let observations = entries.withLock { $0.values.map(\.observation) }
    try device.announce(changes, store: store, to: observations)
  }
}

/// Observations that last as long as this object.
final class StoreObservations: Sendable {
  private let observations = Mutex<[ObjectIdentifier: ObservationToken]>([:])

  /// - Parameter purpose: there is one observation for each.
  func observe(_ purpose: ObjectIdentifier, _ begin: () -> ObservationToken) {
    let isNew = observations.withLock { $0[purpose] == nil }
    guard isNew else { return }
    // Not with the lock: an observer that is notified at once may begin another.
    let observation = begin()
    observations.withLock { $0[purpose] = $0[purpose] ?? observation }
  }
}
