// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
import KeepsakeSettingsBundle
public import KeepsakeValues
import Logging

/// What `UserDefaultsStore` and `CloudKeyValueStore` have in common. Subclass one of those.
// Sendable: the one stored property is immutable; Swift cannot check subclasses, whose properties
// are `Setting`s, immutable references to objects that are Sendable themselves.
open class SettingsStore: KeyValueStore, @unchecked Sendable {
  let backing: Backing

  /// - Throws: `KeepsakeError` when the file cannot be read, `SettingDeclarationError` when two
  ///   properties have one key.
  init(
    device: Device, store: String, registered: RegisteredDefaults? = nil,
    bundle: SettingsBundle? = nil, durability: Durability, logger: Logger
  ) throws {
    backing = try Backing(
      device: device, store: store, registered: registered, bundle: bundle,
      durability: durability, logger: logger)
    try bindSettings()
  }

  /// The device that this store is on.
  public var device: Device { backing.device }

  /// The store's name on the device, as `kvsync --store` takes it.
  public var storeName: String { backing.store }

  /// The last failures of getters and setters, which cannot throw; each is also logged. At most
  /// 100.
  public var errors: [SettingFailure] { backing.failures.recent }

  public func value(for key: String) throws(KeepsakeError) -> StoredValue? {
    try backing.value(key)
  }

  public func set(_ value: StoredValue?, for key: String) throws(KeepsakeError) {
    try backing.set(value, key)
  }

  /// The value of a key; nil when no layer has one. Setting nil removes it.
  ///
  /// A failure is reported in `errors`; `value(for:)` and `set(_:for:)` throw instead.
  public subscript(key: String) -> StoredValue? {
    get {
      do {
        return try backing.value(key)
      } catch {
        backing.reportRead(key, error)
        return nil
      }
    }
    set {
      do {
        try backing.set(newValue, key, waiting: Device.setterTimeout)
      } catch {
        backing.reportWrite(key, error)
      }
    }
  }

  /// Runs `body` as one step: what it reads in this store, and in every other store of the device,
  /// is of one moment; what it writes is committed when it returns, and announced as one change
  /// set, with the net change of each key.
  ///
  /// Within another transaction it joins that one. When it throws, what it wrote is taken back.
  ///
  /// - Parameters:
  ///   - durability: what the writes survive once this returns; nil for the store's.
  ///   - body: must not wait for another thread that uses this device.
  /// - Throws: as `Device.transaction`.
  public func transaction<Value>(
    durability: Durability? = nil, _ body: () throws -> Value
  ) throws -> Value {
    try device.transaction(durability: durability ?? backing.durability, body)
  }

  /// Replaces the value of a key by what `body` makes of it, as one step: no other thread and no
  /// other process writes in between.
  ///
  /// - Parameter body: gets the value of the first layer that has one; nil removes the entry.
  /// - Throws: what `body` throws, or `KeepsakeError`; then nothing was written.
  @discardableResult
  public func update<Result>(
    _ key: String, _ body: (inout StoredValue?) throws -> Result
  ) throws -> Result {
    try transaction {
      var value = try backing.value(key)
      let result = try body(&value)
      try backing.set(value, key)
      return result
    }
  }
}

extension SettingsStore {
  /// Gives every `Setting` among the stored properties, inherited ones too, its store and its key.
  ///
  /// A subclass's properties are initialised before this class's `init` runs, so they are all
  /// there.
  private func bindSettings() throws(SettingDeclarationError) {
    guard !(self is any CustomReflectable) else {
      throw declaration("a custom mirror hides the settings; remove customMirror")
    }
    var mirror: Mirror? = Mirror(reflecting: self)
    var keys: Set<ByteText> = []
    while let current = mirror {
      for child in current.children {
        guard let setting = child.value as? any BindableSetting else { continue }
        let key = setting.explicitKey ?? Self.propertyName(child.label)
        guard !key.isEmpty, keys.insert(ByteText(key)).inserted else {
          throw declaration(
            "the key \"\(key)\" is empty or there twice; give each setting a key of its own")
        }
        guard setting.bind(to: backing, key: key) else {
          throw declaration(
            "the setting \"\(key)\" belongs to another store; make one for each instance")
        }
      }
      mirror = current.superclassMirror
    }
  }

  private func declaration(_ problem: String) -> SettingDeclarationError {
    SettingDeclarationError(description: "\(type(of: self)): \(problem)")
  }

  /// A wrapped property is stored under its name with an underscore before it, a lazy one with
  /// `$__lazy_storage_$_`.
  static func propertyName(_ label: String?) -> String {
    guard let label else { return "" }
    if let prefix = label.prefixMatch(of: /\$__lazy_storage_\$_/) {
      return String(label[prefix.range.upperBound...])
    }
    return label.hasPrefix("_") ? String(label.dropFirst()) : label
  }
}
