// SPDX-License-Identifier: Apache-2.0
//
// Where the settings of one store come from and go to: they are read through the layers
// (`Layers.swift`) and written as entries of the store.

import KeepsakeDevice
import KeepsakeSettingsBundle
import KeepsakeValues
import Logging
import Synchronization

final class Backing: Sendable {
  let store: String
  let failures: FailureLog
  /// Of every write to this store.
  let durability: Durability
  /// Of the writes on this device.
  private let limits: StoreLimits?
  let refusals = Refusals()

  /// The device that a store is on, and what it reads there.
  private struct Place: Sendable {
    let device: Device
    /// The device's.
    let versions: ReadVersions
    let layers: Layers

    init(_ device: Device, _ layers: Layers) {
      (self.device, versions, self.layers) = (device, device.core.versions, layers)
    }
  }

  /// What was read and is still current needs no look at it.
  private let present: Mutex<Place>

  private var place: Place { present.withLock { $0 } }

  var device: Device { place.device }
  var layers: Layers { place.layers }

  /// Who observes the store, whatever device it is on.
  private struct Listeners {
    var next = 0
    var all: [Int: Listener] = [:]
  }

  private struct Listener: Sendable {
    let observer: StoreObserver
    /// Where it listens.
    let core: Core
    let token: ObservationToken
  }

  private let moving = Mutex(())

  private let listeners = Mutex(Listeners())
  private let trackedKeys = AtomicLazyReference<Tracking>()

  /// What was read since the present state began.
  private struct Cache {
    var state: StoreState?
    var values: [ByteText: StoredValue?] = [:]

    /// - Parameter state: from before the value was read: so it may be newer, and never older.
    mutating func keep(_ value: StoredValue?, of key: ByteText, as state: StoreState) {
      // A caller that asks for ever new keys must not fill the memory.
      if self.state != state || values.count >= 200_000 { values = [:] }
      self.state = state
      values[key] = .some(value)
    }
  }

  private let cache = Mutex(Cache())

  /// - Parameter bundle: wins over what the file knows of other bundles.
  init(
    device: Device, store: String, arguments: LaunchArguments, registered: RegisteredDefaults?,
    bundle: SettingsBundle?, durability: Durability, limits: StoreLimits?, logger: Logger
  ) throws(KeepsakeError) {
    self.store = store
    self.durability = durability
    self.limits = limits
    failures = FailureLog(logger: logger)
    try device.settleTime(telling: failures)
    // A device that is only read keeps no seeds, and is no worse for it.
    if let bundle, !device.isReadOnly { try device.seed(store: store, from: bundle) }
    let layers = try Layers(
      device: device, store: store, arguments: arguments, registered: registered, bundle: bundle)
    present = Mutex(Place(device, layers))
    backUp(device)
    device.core.shared.upkeep.tell(failures) { [weak failures, store] error in
      failures?.report(
        SettingFailure(
          store: store, key: "", operation: .checkpoint, storedType: nil, argument: nil,
          cause: error))
    }
  }

  private func backUp(_ device: Device) {
    device.backUpDaily { [failures, store] error in
      failures.report(
        SettingFailure(
          store: store, key: "", operation: .backup, storedType: nil, argument: nil, cause: error))
    }
  }

  /// The present state; nil where it is unknown, and everything has to be read.
  var state: StoreState? { StoreState(place.versions) }

  /// Whether what was read since `state` may be kept: the store may have moved meanwhile.
  func isHere(_ state: StoreState) -> Bool { state.versions === place.versions }

  /// The value of the first layer that has one.
  func value(_ key: String) throws(KeepsakeError) -> StoredValue? {
    let key = ByteText(key)
    let known = cache.withLock { cache -> StoredValue?? in
      cache.state?.isCurrent == true ? cache.values[key] : nil
    }
    if let known { return known }
    guard let state else { return try layers.value(key) }
    let value = try layers.value(key)
    cache.withLock { if isHere(state) { $0.keep(value, of: key, as: state) } }
    return value
  }

  /// Where the value of a key comes from.
  func explanation(_ key: String) throws(KeepsakeError) -> Explanation {
    Explanation(store: store, key: key, layers: try layers.explanation(ByteText(key)))
  }

  /// - Parameter limit: how long to wait for other processes at most; nil for as long as the device
  ///   does.
  func set(
    _ value: StoredValue?, _ key: String, waiting limit: Duration? = nil
  ) throws(KeepsakeError) {
    let write = LocalWrite(store: store, key: key, value: value, limits: limits)
    do throws(KeepsakeError) {
      try device.write([write], durability: durability, waiting: limit)
    } catch {
      if error.code == .quotaExceeded { refusals.report(key) }
      throw error
    }
  }
}

// MARK: - Observers

extension Backing {
  /// - Parameter keys: nil for every commit, whatever it changed; then `handler` gets no changes.
  func observe(
    _ keys: KeyFilter?, _ handler: @escaping @Sendable ([Change]) -> Void
  ) -> ObservationToken {
    let observer = StoreObserver(keys: keys, handler: handler) { [weak self] in
      self?.report(.observe, $0)
    }
    let device = device
    let token =
      keys.map { device.observe(store: store, $0, handler, onFailure: observer.onFailure) }
      ?? device.observeCommits({ handler([]) }, onFailure: observer.onFailure)
    let id = listeners.withLock { listeners in
      defer { listeners.next += 1 }
      listeners.all[listeners.next] = Listener(observer: observer, core: device.core, token: token)
      return listeners.next
    }
    // The store may have moved since, and have left this one behind.
    if device.core !== self.device.core {
      do throws(KeepsakeError) {
        try follow(nil)
      } catch {
        report(.observe, error)
      }
    }
    return ObservationToken {
      self.listeners.withLock { $0.all.removeValue(forKey: id) }?.token.cancel()
    }
  }

  /// Runs `body` as one step on the device that the store is on, which it cannot leave meanwhile.
  func transaction<Value>(
    _ durability: Durability, waiting limit: Duration? = nil, _ body: () throws -> Value
  ) throws -> Value {
    while true {
      let device = device
      let value = try device.transaction(durability, waiting: limit) {
        device.core === self.device.core ? .some(try body()) : Value?.none
      }
      if let value { return value }
    }
  }

  /// Goes on with another device, and notifies the observers how the store differs there.
  func move(to device: Device) throws(KeepsakeError) {
    try device.settleTime(telling: failures)
    let place = Place(
      device,
      try Layers(device: device, store: store, arguments: .none, registered: nil, bundle: nil))
    try follow(place)
    // Observers that were added meanwhile, and did not go along.
    try follow(nil)
    backUp(device)
  }

  /// Takes the observers along to another place, or, without one, those that were left behind to
  /// the present one. One move at a time.
  private func follow(_ next: Place?) throws(KeepsakeError) {
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
    let newcomers = new.observe(leaving.map(\.value.observer), store: store)
    left = newcomers.map(\.observation)
    try new.adopt(newcomers, store: store, knowing: known) {
      guard let next else { return }
      present.withLock { $0 = next }
      // Last: what was kept before is not current from now on.
      old.core.versions.layersDidChange()
    }
    left = listeners.withLock { listeners in
      zip(leaving, left).map { (listener, token) in
        guard let was = listeners.all[listener.key] else { return token }
        listeners.all[listener.key] = Listener(
          observer: was.observer, core: new.core, token: token)
        return was.token
      }
    }
  }

  /// What `Observable` tracks; nil for a store that is not.
  var tracking: Tracking? { trackedKeys.load() }

  /// - Returns: what is to be kept as long as a property may be tracked.
  func track() -> ObservationToken {
    let tracking = trackedKeys.storeIfNil(Tracking())
    return observe(.all) { tracking.didChange($0) }
  }
}
