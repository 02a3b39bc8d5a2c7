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
/// Reading gives the value of the first layer of the store that has one, see `UserDefaultsStore`,
/// else the default declared here. A value that cannot be read gives the default too, and is
/// reported in the store's `failures`; its bytes stay. A write is durable when it returns; one that
/// fails leaves the value and is reported. `read()`, `write(_:)` and `update(_:)` throw instead.
///
/// A stored value must have the setting's type; only the text of a launch argument may also be an
/// integer, a real, a boolean (`YES`, `NO`, `true`, `false`, `1`, `0`) or an ISO 8601 date: the
/// first of these, the text itself before them, that the setting takes. The value of a
/// `SettingsLayer` may be whatever its provider gives it as.
///
/// A store finds the settings among its own and its superclasses' stored properties; not those in a
/// struct or another object that it holds, and not lazy ones.
@propertyWrapper
public final class Setting<Value: Sendable>: Sendable {
  /// The setting's value when no layer of the store has one; computed anew where the
  /// declaration has a closure.
  public var defaultValue: Value { fallback.value }

  // First: its place in the object does not depend on the type of the value.
  @usableFromInline let slot = SettingSlot()
  let fallback: SettingDefault<Value>
  let explicitKey: String?
  let codec: SettingCodec<Value>
  /// The members of an encoded value, if it is stored member by member.
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

  /// Explains the error in `@Setting var volume: Int`.
  @available(
    *, unavailable,
    message: """
      a setting needs a default, as in @Setting var volume = 5, unless its type is an optional of \
      one that is BackingStoreConvertible
      """
  )
  @_disfavoredOverload
  public init() { fatalError("unavailable") }

  /// The value in force. A value that cannot be read is reported, and the default is given; a write
  /// that fails is reported, after a second at most of waiting for another process. `read` and
  /// `write` throw instead.
  public var wrappedValue: Value {
    // Inlined, it is code for the value's own type.
    @inlinable @inline(__always)
    get {
      if let loan = slot.borrowUntracked() { value(loan) } else { valueOrDefault() }
    }
    set {
      guard let bound = slot.binding else { return Self.reportUnbound() }
      var key = bound.key
      do {
        try write(newValue, bound, waiting: Device.setterTimeout) { key = $0 }
      } catch {
        bound.backing.reportWrite(key, error)
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

  /// The setting itself: `settings.$volume` has what a property cannot offer.
  public var projectedValue: Setting<Value> { self }

  /// The key under which the value is stored: as declared, else the property's name. Of a setting
  /// that is stored member by member, what the members' keys begin with.
  ///
  /// - Throws: `SettingDeclarationError` if this setting is not a property of a store.
  public func key() throws -> String { try bound().key }

  /// The value, or the reason why it cannot be read.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read, `SettingFailure` when the stored value
  ///   cannot be; its `cause` is what the hook threw.
  public func read() throws -> Value {
    let bound = try bound()
    return try decode(inForce: bound.stored(), bound)
  }

  /// Stores a value; durable when it returns. A setting that is stored member by member stores only
  /// the members that changed.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be written, `SettingFailure` when the value
  ///   cannot be stored; its `cause` is what the hook threw. The store holds what it held.
  public func write(_ value: Value) throws {
    try write(value, try bound())
  }

  /// Changes the value as one step: no other thread and no other process writes in between.
  ///
  /// `body` gets what `read()` gives, also of a layer above what was set: under a launch argument
  /// it is the argument's value that is changed and stored. What `body` leaves as it was is not
  /// stored.
  ///
  /// - Throws: what `body` throws, or like `read()` and `write(_:)`; then nothing was written.
  @discardableResult
  public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
    try transaction {
      let bound = try bound()
      let stored = try bound.stored()
      let old = try decode(inForce: stored, bound)
      var value = old
      let result = try body(&value)
      for replacement in try replacements(of: (stored, old), by: value, bound) {
        try bound.backing.set(replacement.new, replacement.key)
      }
      return result
    }
  }

  /// Runs `body` in one transaction of the store.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    let backing = try bound().backing
    return try backing.transaction(backing.durability, body)
  }

  /// Removes the stored value, which uncovers the layer below, in the end the default.
  ///
  /// - Throws: `KeepsakeError`; then the store holds what it held.
  public func reset() throws {
    try bound().reset()
  }

  /// - Parameter writing: gets each key before it is written.
  private func write(
    _ value: Value, _ bound: SettingSlot.Binding, waiting limit: Duration? = nil,
    writing: (String) -> Void = { _ in }
  ) throws {
    guard bound.fields == nil else {
      return try writeMembers(value, bound, waiting: limit, writing: writing)
    }
    // Not by a `SettingKey`, whose generic metadata Swift would look up at each use.
    let backing = bound.backing
    try backing.set(try backing.encode(value, bound.key, codec), bound.key, waiting: limit)
  }

  func declaration(_ bound: SettingSlot.Binding) -> SettingKey<Value> {
    SettingKey(bound.key, fallback, codec)
  }

  private func beginChange() -> InPlaceChange<Value>? {
    slot.access()
    return slot.binding.map { bound in
      InPlaceChange(bound.backing, bound.key) { try readForChange(bound) }
    }
  }

  private func endChange(_ change: InPlaceChange<Value>?, _ value: Value) {
    guard let change, let bound = slot.binding else { return Self.reportUnbound() }
    change.end { try replacements(of: $0, by: value, bound) }
  }

  /// - Parameter failing: called for members only, see `value(of:_:_:failing:)`.
  func decode(
    inForce stored: StoredValue?, _ bound: SettingSlot.Binding,
    failing: (SettingFailure) throws -> Void = { throw $0 }
  ) throws -> Value {
    if let fields = bound.fields {
      guard let stored else { return defaultValue }
      return try value(of: stored.members, fields, bound.backing, failing: failing)
    }
    return try bound.backing.decode(inForce: stored, declaration(bound))
  }

  /// Wakes after each commit that changed the key.
  func signals() -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      guard let bound = slot.binding else {
        Self.reportUnbound()
        return continuation.finish()
      }
      let observation = bound.backing.observe(.keys(bound.keys)) { _ in continuation.yield() }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }

  /// The stored value and the setting's value, from one read.
  var present: (stored: StoredValue?, value: Value) {
    guard let bound = slot.binding else {
      Self.reportUnbound()
      return (nil, defaultValue)
    }
    var stored: StoredValue?
    do {
      stored = try bound.stored(failing: bound.report)
      return (stored, try readable(stored, bound))
    } catch {
      bound.backing.reportRead(bound.key, error)
      return (stored, defaultValue)
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

  /// There is no store with `failures`, only the log; in a debug build the program stops.
  static func reportUnbound() {
    Logger(label: "keepsake").error("\(unbound)")
    assertionFailure("\(unbound)")
  }
}
