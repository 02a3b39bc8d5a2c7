// SPDX-License-Identifier: Apache-2.0
//
// On which device a store is. It may move to the device of another account; its observers go
// along, and get the differences between the two.
//
// Invariants
// - The place of the store changes together with what its observers have still to receive, with
//   one lock. A change set belongs to the place where it was committed: it is accepted only while
//   the store is there, and what an observer has not received when the store moves becomes part of
//   the differences that it gets.
// - An observer is called for one change set at a time, in their order, also across a move. A
//   thread that finds it called leaves the change set to the thread that calls it.

import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// A device that a store is on, and what it reads there. A store that comes back to a device has a
/// new one.
package final class StorePlace: Sendable {
  package let device: Device
  /// The device's.
  let versions: ReadVersions
  let layers: Layers

  init(_ device: Device, _ layers: Layers) {
    (self.device, versions, self.layers) = (device, device.core.versions, layers)
  }
}

final class StoreLocation: Sendable {
  private struct Observers {
    var next = 0
    var all: [Int: PlacedObserver] = [:]
  }

  let store: String
  /// Reports changes that observers could not be notified of.
  private let report: @Sendable (any Error) -> Void
  /// Replaced with the lock of the observers.
  private let present: Mutex<StorePlace>
  private let observers = Mutex(Observers())
  private let moving = Mutex(())

  init(store: String, at place: StorePlace, report: @escaping @Sendable (any Error) -> Void) {
    (self.store, self.report) = (store, report)
    present = Mutex(place)
  }

  var place: StorePlace { present.withLock { $0 } }

  var isObserved: Bool { observers.withLock { !$0.all.isEmpty } }

  /// The keys that are observed by their names.
  var observedKeys: [ByteText] {
    observers.withLock { $0.all.values.flatMap { $0.keys?.names ?? [] } }
  }

  // MARK: - Observers

  /// - Parameters:
  ///   - keys: nil for every commit, whatever it changed; then the change sets are empty.
  ///   - handler: gets each change set with the place where it was committed.
  func observe(
    _ keys: KeyFilter?, _ handler: @escaping @Sendable ([SettingChange], StorePlace) -> Void
  ) -> ObservationToken {
    add(keys) { [self] id in
      var isCaller = false
      while let (changes, place) = next(for: id, isCaller) {
        isCaller = true
        handler(changes, place)
      }
    }.token
  }

  private func next(for id: Int, _ isCaller: Bool) -> ([SettingChange], StorePlace)? {
    observers.withLock { $0.all[id]?.next(isCaller: isCaller).map { ($0, place) } }
  }

  /// Collects change sets until they are taken.
  func collect(_ keys: KeyFilter) -> UnreadChanges {
    let (arrivals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let (id, token) = add(keys) { _ in arrival.yield() }
    let end = ObservationToken {
      token.cancel()
      arrival.finish()
    }
    return UnreadChanges(arrivals, token: end) { [self] in
      observers.withLock { $0.all[id]?.unread.popFirst() }
    }
  }

  /// - Parameter wake: runs without a lock when the observer may have something unread.
  private func add(
    _ keys: KeyFilter?, wake: @escaping @Sendable (_ id: Int) -> Void
  ) -> (id: Int, token: ObservationToken) {
    let (id, place) = observers.withLock { observers in
      let id = observers.next
      observers.next += 1
      observers.all[id] = PlacedObserver(keys: keys) { wake(id) }
      return (id, self.place)
    }
    let observation = listen(at: place, for: id, keys)
    let isThere = observers.withLock { observers in
      guard self.place === place else { return false }
      observers.all[id]?.observation = observation
      return true
    }
    // The store has moved meanwhile, and has taken the observer along.
    if !isThere { observation.token.cancel() }
    let token = ObservationToken { [self] in
      observers.withLock { $0.all.removeValue(forKey: id) }?.observation?.token.cancel()
    }
    return (id, token)
  }

  private func listen(at place: StorePlace, for id: Int, _ keys: KeyFilter?) -> StoreObservation {
    place.device.observe(movingStore: store, keys) { [self] changes, number in
      let wake = observers.withLock { observers -> (@Sendable () -> Void)? in
        guard self.place === place else { return nil }
        observers.all[id]?.unread.append(changes)
        observers.all[id]?.number = number
        return observers.all[id]?.wake
      }
      wake?()
    } onFailure: { [report] in
      report($0)
    }
  }

  /// Notifies the observers of what has changed besides the file.
  func tell(
    _ changes: [(key: ByteText, old: StoredValue?, new: StoredValue?)]
  ) throws(KeepsakeError) {
    let (place, observations) = observers.withLock { observers in
      (self.place, observers.all.values.compactMap(\.observation))
    }
    try place.device.announce(changes, store: store, to: observations)
  }

  // MARK: - Moving

  /// Goes on at another place, and takes the observers along. One move at a time.
  ///
  /// - Throws: then nothing has changed.
  func move(to next: StorePlace) throws(KeepsakeError) {
    let old = place.device
    // Before the wait for another move, which may be waiting for the transaction of this thread.
    try refuseTransaction(next)
    do {
      // Ended when nothing is locked any more, see `StoreObservation.token`.
      var over: [ObservationToken] = []
      defer { for token in over { token.cancel() } }
      try moving.withLock { _ throws(KeepsakeError) in try move(to: next, &over) }
    }
    // Observers may wait for another thread, and that one for the leases of this thread.
    Lease.afterwards(self) { [self] in
      let all = observers.withLock { $0.all.sorted { $0.key < $1.key }.map(\.value.wake) }
      for wake in all { wake() }
    }
    for device in [old, next.device] { device.core.shared.tellObservers() }
  }

  private func refuseTransaction(_ next: StorePlace) throws(KeepsakeError) {
    let (old, new) = (place.device, next.device)
    guard new.core !== old.core,
      [old, new].contains(where: { $0.core.versions.isInOurTransaction })
    else { return }
    throw KeepsakeError(
      .locked, path: new.path, "the account cannot be switched within a transaction",
      cure: "switch when it has ended")
  }

  /// - Parameter over: gets the observations that are not needed any more; when this throws, those
  ///   that were made for nothing.
  private func move(
    to next: StorePlace, _ over: inout [ObservationToken]
  ) throws(KeepsakeError) {
    let (old, new) = (place.device, next.device)
    guard new.core !== old.core else { return }
    try refuseTransaction(next)
    // This process writes to neither meanwhile.
    try Core.access(old.core, new.core) {
      let known = try old.contents(store: store)
      var observations: [Int: StoreObservation] = [:]
      repeat {
        let all = observers.withLock { $0.all }
        for (id, observer) in all where observations[id] == nil {
          let observation = listen(at: next, for: id, observer.keys)
          observations[id] = observation
          over.append(observation.token)
        }
        let difference = AccountDifference(
          store: store, from: known,
          to: try new.contents(store: store, before: Array(observations.values)))
        over = take(observations, to: next, difference) ?? over
      } while place !== next
      // Last: what was kept before is not current from now on, also when the store comes back to
      // the device. A reader may have taken the state of one device and the value of the other.
      for device in [old, new] { device.core.versions.layersDidChange() }
    }
  }

  /// Moves everything at once.
  ///
  /// - Parameters:
  ///   - observations: at the next place.
  ///   - difference: of the two places.
  /// - Returns: what is not needed any more; nil when an observer lacks an observation, and nothing
  ///   was done.
  private func take(
    _ observations: [Int: StoreObservation], to next: StorePlace, _ difference: AccountDifference
  ) -> [ObservationToken]? {
    observers.withLock { observers in
      guard observers.all.keys.allSatisfy({ observations[$0] != nil }) else { return nil }
      let place = place
      var over: [ObservationToken] = []
      for (id, observation) in observations {
        let old = observers.all[id]?.move(to: observation, from: place, difference)
        // One that was cancelled meanwhile needs none at all.
        if let token = observers.all[id] == nil ? observation.token : old { over.append(token) }
      }
      present.withLock { $0 = next }
      return over
    }
  }
}
