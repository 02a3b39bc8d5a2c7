// SPDX-License-Identifier: Apache-2.0
//
// A property that lives in a store. The wrapper and its `$` projection are the same object.
//
// Threading: everything is immutable but the slot, which is thread-safe. The value is in the
// database; the slot caches it until a commit that may have changed it.

import KeepsakeDevice
import KeepsakeValues
import Logging

/// A typed setting of a store: name, type and default, declared once.
///
/// ```swift
/// final class AppSettings: DeviceSettings, @unchecked Sendable {
///   @Setting var username = "guest"
///   @Setting("nbr_logins") var loginCount = 0
///   @Setting(by: .rawValue) var theme = Theme.light
/// }
/// ```
///
/// A read returns the value of the first layer of the store that has one, see `UserDefaultsStore`,
/// else the default declared here. A value that cannot be read is reported in the store's
/// `failures` and its bytes stay; the read returns the default. A write is durable when it returns.
/// A failed write is reported, and the value stays. `read()`, `write(_:)` and `update(_:)` throw
/// instead.
///
/// A stored value must have the setting's type. Only the text of a launch argument may also be an
/// integer, a real, a boolean (`YES`, `NO`, `true`, `false`, `1`, `0`) or an ISO 8601 date: the
/// setting reads it as text, then as each of these, and uses the first that it accepts. A provider
/// of a `SettingsLayer` may return one value as several types.
///
/// A store finds the settings among its own and its superclasses' stored properties, but not in a
/// struct or another object that it holds, and not lazy ones.
@propertyWrapper
public final class Setting<Value: Sendable>: Sendable {
  /// The setting's value if no layer of the store has one; computed at each access if the
  /// declaration has a closure.
  public var defaultValue: Value { fallback.value }

  // First: its place in the object does not depend on the type of the value.
  @usableFromInline let slot = SettingSlot()
  let fallback: SettingDefault<Value>
  let explicitKey: String?
  let codec: SettingCodec<Value>
  /// Finds the members of an encoded value, if it is stored member by member.
  let members: (@Sendable ([String: StoredValue]) -> CodedMembers)?

  init(
    _ fallback: SettingDefault<Value>, key: String?, codec: SettingCodec<Value>,
    members: (@Sendable ([String: StoredValue]) -> CodedMembers)? = nil
  ) {
    self.fallback = fallback
    explicitKey = key
    self.codec = codec
    self.members = members
  }

  /// An optional setting declared without a value: `@Setting var nickname: String?`.
  // Not a convenience initialiser like the others: for a property without a value, Swift finds only
  // one that is designated and not generic.
  public init() where Value: OptionalBackingStoreConvertible {
    fallback = .constant(nil)
    explicitKey = nil
    codec = SettingCodec()
    members = nil
  }

  /// Explains the compiler's error for `@Setting var volume: Int`.
  @available(
    *, unavailable,
    message: """
      a setting needs a default, as in @Setting var volume = 5, unless its type is an optional of \
      one that is BackingStoreConvertible
      """
  )
  @_disfavoredOverload
  public init() { fatalError("unavailable") }

  /// The value in force. If it cannot be read, the failure is reported and the default is returned.
  /// A write waits for other processes for a second at most; a failed write is reported. `read` and
  /// `write` throw instead.
  public var wrappedValue: Value {
    // Inlined, it is code for the value's own type.
    @inlinable @inline(__always)
    get {
      if let borrowed = slot.borrowUntracked() { value(borrowed) } else { valueOrDefault() }
    }
    set {
      guard let bound = slot.binding else { return Self.reportUnbound() }
      var key = bound.key
      do {
        try write(newValue, to: bound, waiting: Device.setterTimeout) { key = $0 }
      } catch {
        bound.backing.reportWriteFailure(error, of: key)
      }
    }
    _modify {
      let change = beginChange()
      var value = change?.value ?? defaultValue
      // Also if the mutation throws, as for a stored property.
      defer { endChange(change, value) }
      yield &value
    }
  }

  /// The setting itself: `settings.$volume.read()` throws, for example.
  public var projectedValue: Setting<Value> { self }

  /// The key under which the value is stored: as declared, else the property's name. For a setting
  /// that is stored member by member, the prefix of the members' keys.
  ///
  /// - Throws: `SettingDeclarationError` if this setting is not a property of a store.
  public func key() throws -> String { try bound().key }

  /// Reads the value.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be read, `SettingFailure` if the stored value
  ///   cannot be; its `cause` is the error of the hook.
  public func read() throws -> Value {
    let bound = try bound()
    return try decode(inForce: bound.stored(), of: bound)
  }

  /// Stores a value; durable when it returns. A setting that is stored member by member stores only
  /// the members that changed.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be written, `SettingFailure` if the value cannot
  ///   be stored; its `cause` is the error of the hook. Then the store is unchanged.
  public func write(_ value: Value) throws {
    try write(value, to: try bound())
  }

  /// Changes the value as one step: no other thread and no other process writes in between.
  ///
  /// `body` gets the result of `read()`, even if a layer hides what was set: under a launch
  /// argument the argument's value is changed and stored. An unchanged value is not stored.
  ///
  /// - Throws: the errors of `body`, `read()` and `write(_:)`; then nothing was written.
  @discardableResult
  public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
    let bound = try bound()
    return try bound.backing.transaction {
      let stored = try bound.stored()
      let old = try decode(inForce: stored, of: bound)
      var value = old
      let result = try body(&value)
      for replacement in try replacements(of: (stored, old), by: value, for: bound) {
        try bound.backing.set(replacement.new, for: replacement.key)
      }
      return result
    }
  }

  /// Removes the stored value, so that the value of the layer below is in force, at last the
  /// default.
  ///
  /// - Throws: `KeepsakeError`; then the store is unchanged.
  public func reset() throws { try bound().reset() }

  /// - Parameter writing: called with each key before it is written.
  private func write(
    _ value: Value, to bound: SettingSlot.Binding, waiting limit: Duration? = nil,
    writing: (String) -> Void = { _ in }
  ) throws {
    guard bound.layout == nil else {
      return try writeMembers(value, to: bound, waiting: limit, writing: writing)
    }
    // Not by a `SettingKey`, whose generic metadata Swift would look up at each use.
    let backing = bound.backing
    let stored = try backing.encode(value, for: bound.key, by: codec)
    try backing.set(stored, for: bound.key, waiting: limit)
  }

  func declaration(_ bound: SettingSlot.Binding) -> SettingKey<Value> {
    SettingKey(bound.key, fallback, codec)
  }

  private func beginChange() -> InPlaceChange<Value>? {
    slot.access()
    return slot.binding.map { bound in
      InPlaceChange(of: bound.key, in: bound.backing) { try readForChange(bound) }
    }
  }

  private func endChange(_ change: InPlaceChange<Value>?, _ value: Value) {
    guard let change, let bound = slot.binding else { return Self.reportUnbound() }
    change.end { try replacements(of: $0, by: value, for: bound) }
  }

  /// - Parameter failing: called for members only, see `value(of:in:backing:failing:)`.
  func decode(
    inForce stored: StoredValue?, of bound: SettingSlot.Binding,
    failing: (SettingFailure) throws -> Void = { throw $0 }
  ) throws -> Value {
    if let layout = bound.layout {
      guard let stored else { return defaultValue }
      return try value(of: stored.members, in: layout, backing: bound.backing, failing: failing)
    }
    return try bound.backing.decode(inForce: stored, of: declaration(bound))
  }

  // MARK: - Getters

  @inlinable @inline(__always)
  func value(_ borrowed: SharedReference<SettingSlot.CachedValue>.Borrowed) -> Value {
    // Only this setting stores values in its slot, so the type is right.
    let value = borrowed.object._withUnsafeGuaranteedRef {
      unsafeDowncast($0, to: SettingSlot.TypedValue<Value>.self).value
    }
    extendLifetime(value)
    borrowed.end()
    return value
  }

  /// The value for a getter, which cannot throw: the cached one, else the stored one, else the
  /// default.
  @inline(never) @usableFromInline
  func valueOrDefault() -> Value {
    slot.access()
    if let borrowed = slot.borrow() { return value(borrowed) }
    guard let bound = slot.binding else {
      Self.reportUnbound()
      return defaultValue
    }
    do {
      if slot.renew(), let borrowed = slot.borrow() { return value(borrowed) }
      let version = bound.backing.version
      let value = try decode(
        inForce: bound.stored(failing: bound.report), of: bound, failing: bound.report)
      // A computed default may differ at the next read.
      if fallback.isConstant, let version { slot.keep(SettingSlot.TypedValue(value, version)) }
      return value
    } catch {
      bound.backing.reportReadFailure(error, of: bound.key)
      return defaultValue
    }
  }

  func bound() throws -> SettingSlot.Binding {
    guard let bound = slot.binding else { throw Self.unbound }
    return bound
  }

  private static var unbound: SettingDeclarationError {
    SettingDeclarationError(
      description:
        "this Setting<\(Value.self)> is not, or not yet, a property of a store; declare it"
        + " in a subclass of UserDefaultsStore or CloudKeyValueStore and use it after super.init")
  }

  /// Logs the error, because there is no store with `failures`. In a debug build the program stops.
  static func reportUnbound() {
    Logger(label: "keepsake").error("\(unbound)")
    assertionFailure("\(unbound)")
  }
}

extension Setting where Value: FixedWidthInteger {
  /// Adds to the value, as one step for all threads and processes of a device.
  ///
  /// Not across devices: in a store that syncs, two devices that each add 1 to 0 have 1 after a
  /// merge, and no conflict. Count under a key for each device, and read the sum.
  ///
  /// - Returns: the new value.
  /// - Throws: as `update`; `ValueError` if the sum does not fit the type.
  @discardableResult
  public func increment(by amount: Value = 1) throws -> Value {
    try update { value in
      let (sum, overflow) = value.addingReportingOverflow(amount)
      guard !overflow else {
        throw ValueError(.invalid, "the sum does not fit in a \(Value.self); use a larger type")
      }
      value = sum
      return sum
    }
  }
}
