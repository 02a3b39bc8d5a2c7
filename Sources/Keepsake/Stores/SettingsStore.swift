// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
import KeepsakeSettingsBundle
public import KeepsakeValues
import Logging
import Observation

/// The common superclass of `UserDefaultsStore` and `CloudKeyValueStore`. Subclass one of those.
// Sendable: the stored properties are immutable; Swift cannot check subclasses, whose properties
// are `Setting`s, immutable references to objects that are Sendable themselves.
open class SettingsStore: @unchecked Sendable {
  @usableFromInline package let backing: Backing
  let observations = RetainedObservations()

  /// - Throws: `KeepsakeError` if the file cannot be read, `SettingDeclarationError` if two
  ///   properties have one key, one cannot be stored member by member, or reflection does not show
  ///   them.
  init(
    device: Device, store: String, layers: [SettingsLayer] = [],
    arguments: LaunchArguments = .none, registered: RegisteredDefaults? = nil,
    bundle: SettingsBundle? = nil, durability: Durability,
    logger: Logger
  ) throws {
    backing = try Backing(
      device: device, store: store, providers: layers, arguments: arguments,
      registered: registered, bundle: bundle, durability: durability, logger: logger,
      isTracked: type(of: self) is any Observable.Type)
    try bindSettings()
    for layer in layers { observations.add(for: layer) { backing.follow(layer) } }
  }

  /// The device of this store.
  public var device: Device { backing.device }

  /// The store's name on the device, as in `kvsync --store`.
  public var storeName: String { backing.store }

  /// Reads the value of the first layer that has one, at last the default of the property with the
  /// key; nil if there is none.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be read.
  public func read(_ key: String) throws(KeepsakeError) -> StoredValue? {
    try backing.valueOrDefault(key)
  }

  /// Stores a value, or removes it if it is nil. Once this returns, the write survives a crash of
  /// the process.
  ///
  /// - Throws: `KeepsakeError`; then the store is unchanged.
  public func write(_ value: StoredValue?, for key: String) throws(KeepsakeError) {
    try backing.set(value, for: key)
  }

  /// The value of a key, as `read(_:)` returns it. Setting nil removes what was set.
  ///
  /// A failure is reported in `failures`; `read(_:)` and `write(_:for:)` throw instead.
  public subscript(key: String) -> StoredValue? {
    get {
      do {
        return try backing.valueOrDefault(key)
      } catch {
        backing.reportReadFailure(error, of: key)
        return nil
      }
    }
    set { backing.setOrReport(key) { newValue } }
    _modify {
      let change = InPlaceChange(of: key, in: backing) {
        let stored = try backing.value(key)
        return (stored, stored ?? backing.declaredDefault(ByteText(key))?.value)
      }
      var value = change.value ?? nil
      defer {
        change.end {
          $0.value == value ? [] : [Replacement(key: key, seen: $0.stored, new: value)]
        }
      }
      yield &value
    }
  }

  /// Runs `body` as one transaction. Its reads of this store, and of every other store of the
  /// device, are from one snapshot of the file. Layers in memory are not part of the snapshot:
  /// `SettingsLayer`s, the list of suites and registered defaults are read as they are at each
  /// read. Its writes are committed when it returns, and observers get them as one change set, with
  /// the net change of each key.
  ///
  /// Within another transaction it joins that one. If it throws, its writes are rolled back. It
  /// also throws the failure of a setter within it.
  ///
  /// - Parameters:
  ///   - durability: the durability of the writes; nil for the store's.
  ///   - body: must not wait for another thread that uses this device.
  /// - Throws: as `Device.transaction`.
  public func transaction<Value>(
    durability: Durability? = nil, _ body: () throws -> Value
  ) throws -> Value {
    try backing.transaction(durability: durability, body)
  }

  /// Changes the value of a key as one step: no other thread and no other process writes in
  /// between.
  ///
  /// - Parameters:
  ///   - key: where the value is stored.
  ///   - body: changes the value, as `read(_:)` returns it; nil removes the entry. An unchanged
  ///     value is not stored.
  /// - Throws: an error of `body`, or `KeepsakeError`; then nothing was written.
  @discardableResult
  public func update<Result>(
    _ key: String, _ body: (inout StoredValue?) throws -> Result
  ) throws -> Result {
    try transaction {
      let old = try backing.valueOrDefault(key)
      var value = old
      let result = try body(&value)
      if value != old { try backing.set(value, for: key) }
      return result
    }
  }
}

// MARK: - Declared keys

extension SettingsStore {
  /// The value of a key, as of a property with this key: that of the first layer that has one, else
  /// the key's default.
  ///
  /// `+=`, or another change of the value in place, is rejected and reported if another process
  /// writes meanwhile, as for a property. A failure is reported in `failures`; the operations of
  /// `setting(_:)` throw instead.
  public subscript<Value: Sendable>(key: SettingKey<Value>) -> Value {
    // Inlined, it is code for the value's own type.
    @inlinable
    get {
      if let cached = backing.cachedValue(key.name), let value = key.value(of: cached) {
        value
      } else {
        valueOrDefault(key)
      }
    }
    set {
      backing.setOrReport(key.name) { try backing.encode(newValue, for: key.name, by: key.codec) }
    }
    _modify {
      let change = InPlaceChange(of: key.name, in: backing) {
        let stored = try backing.value(key.name)
        return (stored, try backing.decode(inForce: stored, of: key))
      }
      var value = change.value ?? key.defaultValue
      defer {
        change.end { try backing.replacements(of: $0, by: value, for: key) }
      }
      yield &value
    }
  }

  @inline(never) @usableFromInline
  func valueOrDefault<Value>(_ key: SettingKey<Value>) -> Value {
    do {
      return try backing.decode(inForce: backing.value(key.name), of: key)
    } catch {
      backing.reportReadFailure(error, of: key.name)
      return key.defaultValue
    }
  }

  /// A setting of this store, as a property with this key would be. Keep it: each call creates one.
  ///
  /// - Throws: `SettingDeclarationError` if the key's name is empty.
  public func setting<Value: Sendable>(
    _ key: SettingKey<Value>
  ) throws(SettingDeclarationError) -> Setting<Value> {
    let setting = Setting(key)
    try bind(setting, key: key.name)
    return setting
  }
}

// MARK: - Failures

extension SettingsStore {
  /// The last failures of operations of this store object that cannot throw: getters, setters,
  /// Foundation's names, observers, the daily backup. Each is also logged. At most 100.
  public var failures: [SettingFailure] { backing.failures.recent }

  /// Calls `handler` with each failure that could not be thrown, until the result is released:
  /// first with those in `failures`, then with each new one.
  ///
  /// A value that cannot be read is reported once for each of its versions, as in `failures`. A
  /// setter within a transaction reports nothing, because the transaction throws.
  ///
  /// - Parameter handler: runs on the thread of the failing getter or setter, before that returns,
  ///   so that a breakpoint shows the caller. Several threads may call it at once.
  public func observeFailures(
    _ handler: @escaping @Sendable (SettingFailure) -> Void
  ) -> ObservationToken {
    backing.failures.observe(handler)
  }
}
