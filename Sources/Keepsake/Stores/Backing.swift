// SPDX-License-Identifier: Apache-2.0
//
// Reads the settings of one store through its layers (`Layers.swift`), and writes them as entries
// of the store.

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
  let durability: Durability

  /// Whether the store was given a layer of managed values.
  private let hasManaged: Bool
  /// Held while a given layer is reloaded.
  let reloading = Mutex(())

  let device: Device
  let layers: Layers
  let observers: StoreObservers
  /// Reports failed checkpoints of the file as failures of the store.
  private let upkeep: ObservationToken
  private let trackedKeys = AtomicLazyReference<Tracking>()
  /// Whether there are tracked keys: loading an `AtomicLazyReference` costs as much as a read.
  private let isTracked = Atomic<Bool>(false)
  /// The defaults by the properties' keys; nil until the store has bound the properties.
  private let declared = AtomicLazyReference<Box<[ByteText: DeclaredDefault]>>()

  private let known = KnownValues()

  /// - Parameter bundle: wins over what the file knows of other bundles.
  init(
    device: Device, store: String, given: [SettingsLayer], arguments: LaunchArguments,
    registered: RegisteredDefaults?, bundle: SettingsBundle?, durability: Durability,
    logger: Logger
  ) throws(KeepsakeError) {
    self.store = store
    self.device = device
    self.durability = durability
    failures = FailureLog(logger: logger)
    try device.settleTime(telling: failures)
    // A read-only device cannot store seeds, and works without.
    if let bundle, !device.isReadOnly { try device.seed(store: store, from: bundle) }
    layers = try Layers(
      device: device, store: store, given: given, arguments: arguments, registered: registered,
      bundle: bundle)
    hasManaged = given.contains { $0.place == .managed }
    observers = StoreObservers(device, store: store) { [failures] in
      failures.report(.observe, $0, store: store)
    }
    device.backUpDaily { [failures] in failures.report(.backup, $0, store: store) }
    upkeep = device.core.shared.upkeep.add { [failures] in
      failures.report(.checkpoint, $0, store: store)
    }
  }

  /// The present state; nil if it is unknown, so that every value has to be read.
  package var state: StoreState? { StoreState(device) }

  /// The result of `body` for the cached value of a key; nil if none is current, or if reads are
  /// tracked.
  ///
  /// - Parameter body: as of `KnownValues.read`.
  @inline(__always)
  func known<Result>(_ key: String, _ body: (StoredValue?) -> Result?) -> Result? {
    isTracked.load(ordering: .relaxed) ? nil : known.read(key, body)
  }

  /// The value of a key, the inner one nil if no layer has one; the outer one as of `known`.
  @inline(never) @usableFromInline
  func knownValue(_ key: String) -> StoredValue?? { known(key) { .some($0) } }

  /// The value of the first layer that has one; a property adds its default.
  func value(_ key: String) throws(KeepsakeError) -> StoredValue? {
    tracking?.key(of: [key]).access()
    if let known = known.read(key, { .some($0) }) { return known }
    return try readValue(key)
  }

  @inline(never)
  private func readValue(_ key: String) throws(KeepsakeError) -> StoredValue? {
    let text = ByteText(key)
    // A value without a state cannot be cached.
    guard let state else { return try layers.value(text) }
    if let known = known.renew(text) { return known }
    let value = try layers.value(text)
    known.keep(value, of: text, as: state)
    return value
  }

  /// The values of several keys, from one snapshot; a failure for a key that its layer cannot read.
  func values(_ keys: [String]) throws(KeepsakeError) -> [Layers.Found] {
    tracking?.key(of: keys).access()
    return try layers.values(keys.map(ByteText.init))
  }

  /// The value for a read by key: below all layers is the default of the property with the key.
  func valueOrDefault(_ key: String) throws(KeepsakeError) -> StoredValue? {
    try value(key) ?? declaredDefault(ByteText(key))?.value
  }

  /// Every key that has a value, with the result of `valueOrDefault`.
  func valuesAndDefaults() throws(KeepsakeError) -> Layers.Values {
    tracking?.everything.access()
    var all = try layers.allValues(and: declaredKeys)
    addDefaults(of: declaredKeys, to: &all)
    return all
  }

  /// Adds the defaults of properties without a value in any layer. Must not run within a snapshot:
  /// a computed default is code of the application, which may write.
  func addDefaults(of keys: [ByteText], to found: inout Layers.Values) {
    for key in keys where found.values[key] == nil && found.unreadable[key] == nil {
      found.values[key] = declaredInForce(key)
    }
  }

  /// The keys of the properties.
  var declaredKeys: [ByteText] { declared.load().map { Array($0.value.keys) } ?? [] }

  /// The default of the property with a key; nil if no property has it.
  func declaredDefault(_ key: ByteText) -> EncodedDefault? { declared.load()?.value[key]?.encoded }

  /// The default of a property, where no layer has a value.
  func declaredInForce(_ key: ByteText) -> Readings? {
    declaredDefault(key)?.value.map { Readings($0) }
  }

  /// Sets the defaults of the properties; later calls have no effect.
  func declare(_ defaults: [ByteText: DeclaredDefault]) {
    _ = declared.storeIfNil(Box(defaults))
  }

  /// Where the value of a key comes from, but for the default of a property.
  func explanation(_ key: String) throws(KeepsakeError) -> SettingExplanation {
    try layers.explanations([key])[0].explanation
  }

  /// Every write of a store ends here, and here alone a managed key is refused. What kvsync, merges
  /// and `Device.restore` write does not come here: the managed layer hides it.
  ///
  /// - Parameter limit: how long to wait for other processes at most; nil for as long as the device
  ///   does.
  func set(
    _ value: StoredValue?, _ key: String, waiting limit: Duration? = nil
  ) throws(KeepsakeError) {
    if hasManaged { try refuseManaged(key) }
    let write = LocalWrite(store: store, key: key, value: value)
    try device.write([write], durability: durability, waiting: limit)
  }
}

// MARK: - Observers, transactions

extension Backing {
  /// - Parameter keys: nil for every commit, whatever it changed; then `handler` gets no changes.
  func observe(
    _ keys: KeyFilter?, _ handler: @escaping @Sendable ([SettingChange]) -> Void
  ) -> ObservationToken {
    observers.add(keys, handler)
  }

  /// Runs `body` as one step.
  func transaction<Value>(
    _ durability: Durability, waiting limit: Duration? = nil, _ body: () throws -> Value
  ) throws -> Value {
    try device.transaction(durability, waiting: limit, body)
  }

  /// The tracked keys; nil for a store that is not `Observable`.
  var tracking: Tracking? { isTracked.load(ordering: .relaxed) ? trackedKeys.load() : nil }

  /// - Returns: a token to keep as long as a property may be tracked.
  func track() -> ObservationToken {
    let tracking = trackedKeys.storeIfNil(Tracking())
    isTracked.store(true, ordering: .releasing)
    return observe(.all) { tracking.didChange($0) }
  }
}
