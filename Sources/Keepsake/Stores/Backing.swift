// SPDX-License-Identifier: Apache-2.0
//
// Reads the settings of one store through its layers (`Layers.swift`), writes them as entries of
// the store, and reports failures of getters and setters, which cannot throw.

import KeepsakeDevice
import KeepsakeSettingsBundle
public import KeepsakeValues
import Logging
import Synchronization

@usableFromInline
package final class Backing: Sendable {
  let store: String
  let failures: FailureLog
  /// The durability of every write to this store, unless a transaction has its own.
  private let durability: Durability

  /// Held while the layers are reloaded.
  private let reloading = Mutex(())

  let device: Device
  let layers: Layers
  let observers: StoreObservers
  /// Reports failed checkpoints of the file as failures of the store.
  private let checkpointFailures: ObservationToken
  /// The tracked keys; nil for a store that is not `Observable`.
  let tracking: TrackedKeys?
  private let trackedChanges: ObservationToken?
  /// The defaults by the properties' keys; nil until the store has bound the properties.
  private let declared = AtomicLazyReference<Box<[ByteText: DeclaredDefault]>>()

  private let cache = ValueCache()

  /// - Parameters:
  ///   - bundle: wins over other bundles, whose defaults the file has.
  ///   - isTracked: whether the store's class is `Observable`.
  init(
    device: Device, store: String, providers: [SettingsLayer], arguments: LaunchArguments,
    registered: RegisteredDefaults?, bundle: SettingsBundle?, durability: Durability,
    logger: Logger, isTracked: Bool
  ) throws(KeepsakeError) {
    self.store = store
    self.device = device
    self.durability = durability
    failures = FailureLog(store: store, logger: logger)
    try device.repairClock(reportingTo: failures)
    // A read-only device cannot store seeds, and works without.
    if let bundle, !device.isReadOnly { try device.seed(store: store, from: bundle) }
    layers = try Layers(
      device: device, store: store, providers: providers, arguments: arguments,
      registered: registered, bundle: bundle)
    let observers = StoreObservers(device, store: store, failures)
    self.observers = observers
    device.backUpDaily { [failures] in failures.report(.backup, $0) }
    checkpointFailures = device.shared.upkeep.add { [failures] in
      failures.report(.checkpoint, $0)
    }
    let tracking = isTracked ? TrackedKeys() : nil
    self.tracking = tracking
    trackedChanges = tracking.map { tracking in observers.add(.all) { tracking.didChange($0) } }
  }

  /// The present version; nil if it is unknown, so that every value has to be read.
  package var version: StoreVersion? { StoreVersion(device) }

  // MARK: - Reading

  /// The result of `body` for the cached value of a key; nil if no current value is cached, or if
  /// reads are tracked.
  ///
  /// - Parameter body: as of `ValueCache.read`.
  @inline(__always)
  func cached<Result>(_ key: String, _ body: (StoredValue?) -> Result?) -> Result? {
    tracking == nil ? cache.read(key, body) : nil
  }

  /// The cached value of a key, the inner one nil if no layer has one; the outer one as of
  /// `cached`.
  @inline(never) @usableFromInline
  func cachedValue(_ key: String) -> StoredValue?? { cached(key) { .some($0) } }

  /// The value of the first layer that has one; a property adds its default.
  func value(_ key: String) throws(KeepsakeError) -> StoredValue? {
    tracking?.key(of: [key]).access()
    if let cached = cache.read(key, { .some($0) }) { return cached }
    return try readValue(key)
  }

  @inline(never)
  private func readValue(_ key: String) throws(KeepsakeError) -> StoredValue? {
    let text = ByteText(key)
    // A value without a version cannot be cached.
    guard let version else { return try layers.value(text) }
    if let cached = cache.renew(text) { return cached }
    let value = try layers.value(text)
    cache.insert(value, for: text, version: version)
    return value
  }

  /// The values of several keys, from one snapshot.
  func values(_ keys: [String]) throws(KeepsakeError) -> [Layers.Lookup] {
    tracking?.key(of: keys).access()
    return try layers.values(keys)
  }

  /// The layers of the value of a key, without the default of a property.
  func explanation(_ key: String) throws(KeepsakeError) -> SettingExplanation {
    try layers.explanations([key])[0].explanation
  }

  // MARK: - Defaults of properties

  /// The value for a read by key: below all layers is the default of the property with the key.
  func valueOrDefault(_ key: String) throws(KeepsakeError) -> StoredValue? {
    try value(key) ?? declaredDefault(ByteText(key))?.value
  }

  /// Every key that has a value, with the result of `valueOrDefault`.
  func valuesAndDefaults() throws(KeepsakeError) -> Layers.AllValues {
    tracking?.everything.access()
    var all = try layers.allValues(and: declaredKeys)
    addDefaults(to: &all)
    return all
  }

  /// Adds the defaults of properties without a value in any layer. Must not run within a snapshot:
  /// a computed default is code of the application, which may write.
  func addDefaults(to all: inout Layers.AllValues) {
    for key in declaredKeys where all.values[key] == nil && all.unreadable[key] == nil {
      all.values[key] = declaredDefault(key)?.value.map(ValueInForce.init)
    }
  }

  /// The keys of the properties.
  var declaredKeys: [ByteText] { declared.load().map { Array($0.value.keys) } ?? [] }

  /// The default of the property with a key; nil if no property has it.
  func declaredDefault(_ key: ByteText) -> EncodedDefault? { declared.load()?.value[key]?.encoded }

  /// Sets the defaults of the properties; later calls have no effect.
  func declare(_ defaults: [ByteText: DeclaredDefault]) {
    _ = declared.storeIfNil(Box(defaults))
  }

  // MARK: - Writing

  /// Every write of a store calls this function, which alone rejects managed keys. kvsync, merges
  /// and `Device.restore` write otherwise; the managed layer hides their values.
  ///
  /// - Parameter limit: how long to wait for other processes at most; nil for as long as the device
  ///   does.
  func set(
    _ value: StoredValue?, for key: String, waiting limit: Duration? = nil
  ) throws(KeepsakeError) {
    if let manager = layers.manager(of: key) {
      throw KeepsakeError(
        .managed, path: device.path, "the key \"\(key)\" is managed by \(manager)",
        cure: "change it there; check isManaged before a write")
    }
    let write = LocalWrite(store: store, key: key, value: value)
    try device.write([write], durability: durability, waiting: limit)
  }

  /// Runs `body` as one step.
  ///
  /// - Parameter durability: nil for the store's.
  func transaction<Value>(
    durability: Durability? = nil, waiting limit: Duration? = nil, _ body: () throws -> Value
  ) throws -> Value {
    try device.transaction(durability ?? self.durability, waiting: limit, body)
  }

  /// Stores a value for a setter, which cannot throw.
  func setOrReport(_ key: String, to value: () throws -> StoredValue?) {
    do {
      try set(value(), for: key, waiting: Device.setterTimeout)
    } catch {
      reportWriteFailure(error, of: key)
    }
  }

  // MARK: - Failures

  /// Reports a getter's failure, once for each version of the value.
  func reportReadFailure(_ error: any Error, of key: String) {
    let version: FailureLog.UnreadableVersion? =
      switch Result(catching: { try explanation(key) }) {
      case .success(let explanation): explanation.inForce.map { .layer($0) }
      case .failure: nil
      }
    failures.report(
      .read, error, key: key, version: version ?? .unknown(self.version, cause: "\(error)"))
  }

  /// Reports the values that a layer cannot read.
  func reportUnreadable(_ errors: [ByteText: KeepsakeError]) {
    for (key, error) in errors.sorted(by: { $0.key < $1.key }) {
      reportReadFailure(error, of: key.string)
    }
  }

  /// Reports a setter's failure, unless it is within a transaction, which throws it.
  func reportWriteFailure(_ error: any Error, of key: String) {
    let report = { @Sendable [failures] in failures.report(.write, error, key: key) }
    if !device.note(error, orReport: report) { report() }
  }

  /// Reports that the store as a whole could not be read, once for each version of the store.
  package func reportReadAllFailure(_ error: any Error) {
    failures.report(.readAll, error, version: .unknown(version, cause: "\(error)"))
  }

  // MARK: - Reloads of layers

  /// Follows the changes of a layer until the result is released.
  func follow(_ layer: SettingsLayer) -> ObservationToken {
    let token = layer.observe { [weak self] event in
      switch event {
      case .reloaded: self?.reloadAfterTransaction()
      case .failed(let error): self?.failures.report(.reload, error)
      }
    }
    // The layer may have changed since the layers were made.
    reloadAfterTransaction()
    return token
  }

  /// Waits for the end of this thread's transaction: it may be rolled back, and with it the values
  /// that observers would be notified of.
  private func reloadAfterTransaction() {
    device.afterTransaction { [weak self] in self?.reload() }
  }

  /// Reads the layers' present values, and notifies the observers of changes.
  private func reload() {
    let result = Result {
      // Takes the connection before the lock: a thread that has the connection may take the lock.
      try device.survey {
        // One reload at a time, or an observer could get the older change last.
        try reloading.withLock { _ in
          try observers.notify(
            layers.reload { observers.isEmpty ? nil : declaredKeys + observers.names })
        }
      }
    }
    if case .failure(let error) = result {
      layers.takeSnapshots()
      failures.report(.reload, error)
    }
    device.shared.tellObservers()
  }
}

extension Device {
  /// Repairs a clock that had run ahead, when a store is opened.
  fileprivate func repairClock(reportingTo failures: FailureLog) throws(KeepsakeError) {
    if let repair = try repairClock(as: .random()) {
      failures.warn(
        "\(path): its clock had run ahead by \(repair.ahead / 1000) s; "
          + counted(repair.restamped, "entry", plural: "entries")
          + " now counts as written today, and the device has a new replica ID")
    }
  }
}
