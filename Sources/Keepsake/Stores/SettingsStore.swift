// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
import KeepsakeInjection
import KeepsakeSettingsBundle
public import KeepsakeValues
import Logging
import Observation

/// What `UserDefaultsStore` and `CloudKeyValueStore` have in common. Subclass one of those.
// Sendable: the stored properties are immutable; Swift cannot check subclasses, whose properties
// are `Setting`s, immutable references to objects that are Sendable themselves.
open class SettingsStore: @unchecked Sendable {
  @usableFromInline package let backing: Backing
  let observations = StoreObservations()

  /// - Throws: `KeepsakeError` when the file cannot be read, `SettingDeclarationError` when two
  ///   properties have one key, one cannot be stored member by member, or reflection does not show
  ///   them.
  init(
    device: Device, store: String, layers: [SettingsLayer] = [],
    arguments: LaunchArguments = .none, registered: RegisteredDefaults? = nil,
    bundle: SettingsBundle? = nil, durability: Durability,
    logger: Logger
  ) throws {
    backing = try Backing(
      device: device, store: store, given: layers, arguments: arguments, registered: registered,
      bundle: bundle, durability: durability, logger: logger)
    if self is any Observable { observations.observe(ObjectIdentifier(self), backing.track) }
    try bindSettings()
    for layer in layers { observations.observe(ObjectIdentifier(layer)) { backing.follow(layer) } }
  }

  /// The device that this store is on.
  public var device: Device { backing.device }

  /// The store's name on the device, as `kvsync --store` takes it.
  public var storeName: String { backing.store }

  /// The value of the first layer that has one, in the end the default of the property that has the
  /// key; nil when none has.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func read(_ key: String) throws(KeepsakeError) -> StoredValue? {
    try backing.valueOrDefault(key)
  }

  /// Stores a value, or removes it when it is nil; when this returns, it survives a crash of the
  /// process.
  ///
  /// - Throws: `KeepsakeError`; then the store holds what it held.
  public func write(_ value: StoredValue?, for key: String) throws(KeepsakeError) {
    try backing.set(value, key)
  }

  /// The value of a key, as `read(_:)` gives it. Setting nil removes what was set.
  ///
  /// A failure is reported in `failures`; `read(_:)` and `write(_:for:)` throw instead.
  public subscript(key: String) -> StoredValue? {
    get {
      do {
        return try backing.valueOrDefault(key)
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
    _modify {
      let change = InPlaceChange(backing, key) {
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

  /// Runs `body` as one step: what it reads in this store, and in every other store of the device,
  /// is of one moment, but for layers in memory, `SettingsLayer`s, suites and registered defaults:
  /// of these it reads what they are at each read. What it writes is committed when it returns, and
  /// announced as one change set, with the net change of each key.
  ///
  /// Within another transaction it joins that one. When it throws, what it wrote is taken back. It
  /// also throws what a setter within it could only report.
  ///
  /// - Parameters:
  ///   - durability: what the writes survive once this returns; nil for the store's.
  ///   - body: must not wait for another thread that uses this device.
  /// - Throws: as `Device.transaction`.
  public func transaction<Value>(
    durability: Durability? = nil, _ body: () throws -> Value
  ) throws -> Value {
    try backing.transaction(durability ?? backing.durability, body)
  }

  /// Replaces the value of a key by what `body` makes of it, as one step: no other thread and no
  /// other process writes in between.
  ///
  /// - Parameters:
  ///   - key: where the value is stored.
  ///   - body: gets the value as `read(_:)` gives it; nil removes the entry. A value that it leaves
  ///     as it was is not stored.
  /// - Throws: what `body` throws, or `KeepsakeError`; then nothing was written.
  @discardableResult
  public func update<Result>(
    _ key: String, _ body: (inout StoredValue?) throws -> Result
  ) throws -> Result {
    try transaction {
      let old = try backing.valueOrDefault(key)
      var value = old
      let result = try body(&value)
      if value != old { try backing.set(value, key) }
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
    let levels = levels
    if let hidden = levels.first(where: \.lacksMetadata)?.subjectType {
      throw declaration(
        "reflection does not show the settings of \(hidden); compile it \(Mirror.compilation)")
    }
    var defaults: [ByteText: DeclaredDefault] = [:]
    for property in levels.flatMap(\.storedProperties) {
      guard let setting = property.setting else { continue }
      let fields = try fields(of: setting, property)
      for key in fields?.members.map(\.key) ?? [property.key] {
        guard defaults[ByteText(key)] == nil else {
          throw declaration("the key \"\(key)\" is there twice; give each setting a key of its own")
        }
      }
      try bind(setting, key: property.key, fields)
      for key in setting.declaredKeys(property.key) { defaults[ByteText(key.key)] = key.fallback }
    }
    backing.declare(defaults)
  }

  private func fields(
    of setting: some BindableSetting, _ property: StoredProperty
  ) throws(SettingDeclarationError) -> Fields? {
    do throws(SettingDeclarationError) {
      return try setting.fields()
    } catch {
      throw declaration(
        "the setting \"\(property.name)\" cannot be stored member by member: \(error)")
    }
  }

  func bind(
    _ setting: some BindableSetting, key: String, _ fields: Fields? = nil
  ) throws(SettingDeclarationError) {
    guard !key.isEmpty || fields != nil else {
      throw declaration("the key of a setting is empty; give it one")
    }
    guard setting.bind(to: SettingSlot.Binding(backing: backing, key: key, fields: fields)) else {
      throw declaration(
        "the setting \"\(key)\" belongs to another store; make one for each instance")
    }
  }

  private func declaration(_ problem: String) -> SettingDeclarationError {
    SettingDeclarationError(description: "\(type(of: self)): \(problem)")
  }
}
