// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// On which device a store is. It may move to the device of another account; its observers go
/// along, and get the differences between the two.
final class StoreLocation: Sendable {
  /// The device, and what the store reads there.
  struct Place: Sendable {
    let device: Device
    /// The device's.
    let versions: ReadVersions
    let layers: Layers

    init(_ device: Device, _ layers: Layers) {
      (self.device, versions, self.layers) = (device, device.core.versions, layers)
    }
  }

  /// Who observes the store, whatever device it is on.
  private struct Listeners {
    var next = 0
    var all: [Int: Listener] = [:]
  }

  private struct Listener: Sendable {
    let observer: StoreObserver
    /// Where it listens.
    let core: Core
    let place: Newcomer

    var token: ObservationToken { place.observation }
  }

  let store: String
  /// Reports changes that observers could not be notified of.
  private let report: @Sendable (any Error) -> Void
  private let origin = Origin()
  private let present: Mutex<Place>
  private let moving = Mutex(())
  private let listeners = Mutex(Listeners())

  init(store: String, at place: Place, report: @escaping @Sendable (any Error) -> Void) {
    (self.store, self.report) = (store, report)
    present = Mutex(place)
  }

  var place: Place { present.withLock { $0 } }
  var device: Device { place.device }

  /// - Parameter keys: nil for every commit, whatever it changed; then `handler` gets no changes.
  func observe(
    _ keys: KeyFilter?, _ handler: @escaping @Sendable ([SettingChange]) -> Void
  ) -> ObservationToken {
    // As in `Feed.add`: this lock, too, a thread of its parent's may have had.
    guard origin.isThisProcess else {
      let path = present.withLockIfAvailable { $0.device.path }
      report(KeepsakeError.inherited(path ?? "the file of the store \(store)"))
      return ObservationToken {}
    }
    let observer = StoreObserver(keys: keys, handler: handler, onFailure: report)
    let device = device
    let place = device.observe(observer, store: store)
    let id = listeners.withLock { listeners in
      defer { listeners.next += 1 }
      listeners.all[listeners.next] = Listener(observer: observer, core: device.core, place: place)
      return listeners.next
    }
    // The store may have moved since, and have left this one behind.
    if device.core !== self.device.core { takeAlongRest() }
    return ObservationToken {
      self.listeners.withLock { $0.all.removeValue(forKey: id) }?.token.cancel()
    }
  }

  /// Notifies the observers of what has changed besides the file.
  func tell(
    _ changes: [(key: ByteText, old: StoredValue?, new: StoredValue?)]
  ) throws(KeepsakeError) {
    try device.announce(changes, store: store, to: listeners.withLock { $0.all.map(\.value.place) })
  }

  var isObserved: Bool { listeners.withLock { !$0.all.isEmpty } }

  /// The keys that are observed by their names.
  var observedKeys: [ByteText] {
    listeners.withLock { $0.all.values.flatMap { $0.observer.keys?.names ?? [] } }
  }

  /// Takes along the observers that were left behind. The store has moved already, so what fails
  /// here is reported.
  func takeAlongRest() {
    do throws(KeepsakeError) {
      try follow(nil)
    } catch {
      report(error)
    }
  }

  /// Takes the observers along to another place, or, without one, those that were left behind to
  /// the present one. One move at a time.
  func follow(_ next: Place?) throws(KeepsakeError) {
    // Released when nothing is locked any more: the thread that watches other processes may be
    // waiting.
    var left: [ObservationToken] = []
    try moving.withLock { _ throws(KeepsakeError) in
      let old = device
      let new = next?.device ?? old
      guard next == nil || new.core !== old.core else { return }
      let isInTransaction = [old, new].contains { $0.core.versions.isInOurTransaction }
      guard next == nil || !isInTransaction else {
        throw KeepsakeError(
          .locked, path: new.path, "the account cannot be switched within a transaction",
          cure: "switch when it has ended")
      }
      // This process does not write to the old one until the new one is the store's.
      try Core.access(old.core, new.core) {
        try takeAlong(from: old, to: new, next, &left)
      }
    }
    for token in left { token.cancel() }
    place.device.core.shared.tellObservers()
  }

  /// - Parameter left: gets the observations that are not needed any more; when this throws, those
  ///   that were made for nothing.
  private func takeAlong(
    from old: Device, to new: Device, _ next: Place?, _ left: inout [ObservationToken]
  ) throws(KeepsakeError) {
    let known = try old.values(store: store)
    let leaving = listeners.withLock { $0.all }.sorted { $0.key < $1.key }
      .filter { $0.value.core !== new.core }
    let newcomers = leaving.map { new.observe($0.value.observer, store: store) }
    left = newcomers.map(\.observation)
    try new.adopt(newcomers, store: store, knowing: known) {
      guard let next else { return }
      present.withLock { $0 = next }
      // Last: what was kept before is not current from now on.
      old.core.versions.layersDidChange()
    }
    left = listeners.withLock { listeners in
      zip(leaving, newcomers).map { (listener, place) in
        guard let was = listeners.all[listener.key] else { return place.observation }
        listeners.all[listener.key] = Listener(
          observer: was.observer, core: new.core, place: place)
        return was.token
      }
    }
  }
}
