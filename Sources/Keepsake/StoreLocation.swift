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
// - What was read at a place counts until the store leaves it, which is before any reader finds the
//   next one.
// - An observer is called for one change set at a time, in their order, also across a move. A
//   thread that finds it called leaves the change set to the thread that calls it. Copies of the
//   store do not wait for that: they are refreshed by whoever moves it.

import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// A device that a store is on, and what it reads there. A store that comes back to a device has a
/// new one. The device's failures are reported to the store as long as this exists.
package final class StorePlace: Sendable {
  package let device: Device
  let layers: Layers
  let versions: PlaceVersions

  init(_ device: Device, _ layers: Layers, store: String, reporting failures: FailureLog) {
    (self.device, self.layers, versions) = (device, layers, PlaceVersions(device))
    device.core.shared.upkeep.tell(self) { [weak failures] in
      failures?.report(.checkpoint, $0, store: store)
    }
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
  ///   - refresh: of a copy of the store: as of `refreshCopies`.
  func observe(
    _ keys: KeyFilter?, _ handler: @escaping PlacedObserver.Handler,
    refresh: (@Sendable () -> Void)? = nil
  ) -> ObservationToken {
    add(PlacedObserver(keys: keys, .handler(handler), refresh: refresh)).token
  }

  /// Collects change sets until they are taken.
  func collect(_ keys: KeyFilter) -> UnreadChanges {
    let (arrivals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let (id, token) = add(PlacedObserver(keys: keys, .reader { arrival.yield() }))
    let end = ObservationToken {
      token.cancel()
      arrival.finish()
    }
    return UnreadChanges(arrivals, token: end) { [self] in
      observers.withLock { $0.all[id]?.unread.popFirst() }
    } finish: { [self] in
      observers.withLock { $0.all[id]?.hasEnded = true }
      arrival.finish()
    }
  }

  private func add(_ observer: PlacedObserver) -> (id: Int, token: ObservationToken) {
    let (id, place) = observers.withLock { observers in
      let id = observers.next
      observers.next += 1
      observers.all[id] = observer
      return (id, self.place)
    }
    let observation = listen(at: place, SwitchedDevice(place.device), for: id, observer.keys)
    let isThere = observers.withLock { observers in
      guard self.place === place else { return false }
      observers.all[id]?.observation = observation
      return true
    }
    // The store has moved meanwhile, and has taken the observer along.
    if !isThere { observation.token.cancel() }
    if isThere, let failure = observation.failure {
      place.device.core.afterTransaction { [report] in report(failure) }
    }
    let token = ObservationToken { [self] in
      observers.withLock { $0.all.removeValue(forKey: id) }?.observation?.token.cancel()
    }
    return (id, token)
  }

  private func listen(
    at place: StorePlace, _ device: SwitchedDevice, for id: Int, _ keys: KeyFilter?
  ) -> StoreObservation {
    device.observe(store: store, keys) { [self] changes, number in
      deliver(to: id) { observer in
        // A place that was left has nothing more to say.
        guard self.place === place, !observer.hasEnded else { return false }
        observer.unread.append(changes)
        observer.number = number
        return true
      }
    } onFailure: { [report] in
      report($0)
    }
  }

  /// Notifies an observer of what it has not received, without a lock.
  ///
  /// - Parameter update: of the observer, before; returns whether there may be anything.
  private func deliver(to id: Int, _ update: (inout PlacedObserver) -> Bool = { _ in true }) {
    func next(isCaller: Bool) -> PlacedObserver.Call? {
      observers.withLock { observers in
        // Where it is, or what it has unread would be copied.
        func next(_ observer: inout PlacedObserver) -> PlacedObserver.Call? {
          guard isCaller || update(&observer) else { return nil }
          return observer.next(isCaller: isCaller, at: place)
        }
        guard let index = observers.all.index(forKey: id) else { return nil }
        return next(&observers.all.values[index])
      }
    }
    var call = next(isCaller: false)
    while let body = call {
      body.run()
      call = body.isLast ? nil : next(isCaller: true)
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

  /// Lets those who have a copy of the store read it anew, after it has moved and when its layers
  /// have been reloaded. At once, whoever calls observers now: what others read of a copy is the
  /// present store's when this returns.
  func refreshCopies() {
    let all = observers.withLock { $0.all.sorted { $0.key < $1.key }.compactMap(\.value.refresh) }
    for refresh in all { refresh() }
  }

  // MARK: - Moving

  /// Goes on at another place, and takes the observers along. One move at a time.
  ///
  /// - Throws: then nothing has changed.
  func move(to next: StorePlace) throws(KeepsakeError) {
    try refuseTransaction(next)
    let left: (place: StorePlace, failure: KeepsakeError?)?
    do {
      // What goes when nothing is locked any more: the end of an observation may wait, see
      // `StoreObservation.token`, and what an observer holds may write when it goes.
      var (over, seen): ([ObservationToken], [PlacedObserver]) = ([], [])
      defer {
        for token in over { token.cancel() }
        seen = []
      }
      left = try moving.withLock { _ throws(KeepsakeError) in
        try move(to: next, &over, &seen)
      }
    }
    guard let left else { return }
    refreshCopies()
    // Observers may wait for another thread, and that one for the leases of this thread.
    Lease.afterwards(next) { [self, failure = left.failure] in
      if let failure { report(failure) }
      for id in observers.withLock({ $0.all.keys.sorted() }) { deliver(to: id) }
    }
    for device in [left.place.device, next.device] { device.core.shared.tellObservers() }
  }

  /// Another move may be waiting for a transaction of this thread. Layers that copy this store
  /// would be reloaded only after it, whichever device it is of.
  private func refuseTransaction(_ next: StorePlace) throws(KeepsakeError) {
    guard Storage.isAnyMine, next.device.core !== place.device.core else { return }
    throw KeepsakeError(
      .locked, path: next.device.path, "the account cannot be switched within a transaction",
      cure: "switch when it has ended")
  }

  /// - Parameters:
  ///   - over: gets the observations that are not needed any more; when this throws, those that
  ///     were made for nothing.
  ///   - seen: gets the observers.
  /// - Returns: the place that was left, and why changes of other processes cannot be read at the
  ///   next one; nil when the store is there already.
  private func move(
    to next: StorePlace, _ over: inout [ObservationToken], _ seen: inout [PlacedObserver]
  ) throws(KeepsakeError) -> (place: StorePlace, failure: KeepsakeError?)? {
    let old = place
    guard next.device.core !== old.device.core else { return nil }
    let (from, to) = (SwitchedDevice(old.device), SwitchedDevice(next.device))
    // This process writes to neither meanwhile.
    return try SwitchedDevice.access(from, to) {
      let known = try from.contents(store: store)
      var observations: [Int: StoreObservation] = [:]
      repeat {
        let all = observers.withLock { $0.all }
        seen += all.values
        for (id, observer) in all where observations[id] == nil {
          let observation = listen(at: next, to, for: id, observer.keys)
          observations[id] = observation
          over.append(observation.token)
        }
        let difference = AccountDifference(
          store: store, from: known,
          to: try to.contents(store: store, before: Array(observations.values)))
        over = take(observations, to: next, difference) ?? over
      } while place !== next
      return (old, observations.values.lazy.compactMap(\.failure).first)
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
      place.versions.leave()
      present.withLock { $0 = next }
      return over
    }
  }
}
