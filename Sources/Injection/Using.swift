// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// The object for a key, made now if need be. Never suspends.
  ///
  /// An unnamed key means the only registration of the type, or the only primary one.
  /// Constant time, plus one step for each parent container.
  /// - Throws: `InjectionError`, or what the factory throws; then the next call tries again.
  public func get<T: Sendable>(_ key: Key<T> = Key()) throws -> T {
    if let value = try supply(key) { return value }
    throw missing(key)
  }

  /// As `get`, and waits for asynchronous recipes, its own and those it depends on.
  public func resolve<T: Sendable>(_ key: Key<T> = Key()) async throws -> T {
    try await Pending.settling {
      guard let found = try self.locate(key) else { return try self.get(key) }
      if let value = try await found.entry.resolve(found.owner, self) { return value }
      throw self.missing(key)
    }
  }

  /// As `get`, and nil when nothing is registered, or what comes from outside is not there.
  public func find<T: Sendable>(_ key: Key<T> = Key()) throws -> T? {
    try supply(key)
  }

  /// Every object of a type, in registration order, from the nearest container that has any.
  public func all<T: Sendable>(_ type: T.Type = T.self) throws -> [T] {
    for (container, owner) in lineage {
      guard let group = container.group(type) else { continue }
      return try Group.distinct(group.candidates).compactMap {
        // Sound: everything under a type's identifier is an Entry of that type, see Ledger.
        try unsafeDowncast($0, to: Entry<T>.self).read(owner, self)
      }
    }
    return []
  }

  /// A new object whatever its scope, with arguments given for this once.
  ///
  /// The values are found by type by the recipe, and by transient recipes that it asks.
  public func make<T, each A: Sendable>(
    _ key: Key<T> = Key(), with values: repeat each A
  ) throws -> sending T {
    let once = child()
    repeat once.give(each values)
    guard let found = try once.locate(key) else { throw missing(key) }
    guard let value = try found.entry.read(found.owner, once, anew: true) else {
      throw missing(key)
    }
    return value
  }

  /// Puts an object from outside in place of what the key stands for; nil takes it away.
  ///
  /// An `Injectable` object is injected before others see it. Registers the key when it is new;
  /// `set(nil, for:)` declares it, so that `validate()` knows.
  /// - Parameter weak: Whether somebody else keeps the object.
  /// - Throws: `InjectionError`, with `notAClass` when a value cannot be kept weakly.
  public func set<T: Sendable>(
    _ value: T?, for key: Key<T> = Key(), weak: Bool = false
  ) throws {
    try external(key).set(value, weakly: weak, in: self)
  }
}

extension Container {
  /// The object, or nil when nothing is registered or set.
  func supply<T>(_ key: Key<T>) throws -> T? {
    if let found = try locate(key) { return try found.entry.read(found.owner, self) }
    guard let nillable = T.self as? any Nillable.Type else { return nil }
    return try nillable.supply(key.name, from: self) as? T
  }

  private func missing<T>(_ key: Key<T>) -> InjectionError {
    let known = lineage.flatMap { $0.container.group(T.self)?.candidates.map(\.label) ?? [] }
    return InjectionError(
      .missing, key.label, candidates: known,
      cure: known.contains(key.label)
        ? "It is registered but not set: call `set`."
        : "Register it, or add `.as` with this key to what should be found.")
  }

  /// Adds an argument, beside others of its type: two of a kind are an error when asked for.
  private func give<T: Sendable>(_ value: T) {
    ledger.withLock { $0.add(Entry(Key<T>(), .now { _ in value })) }
  }

  /// The entry that `set` writes to: the one with exactly this key, or a new one.
  private func external<T>(_ key: Key<T>) throws -> Entry<T> {
    try ledger.withLock { ledger in
      let same = ledger.groups[ObjectIdentifier(T.self)]?.candidates.filter { $0.name == key.name }
      let entry = try same.flatMap { $0.isEmpty ? nil : try Group($0).entry(key.name, key.label) }
      let new = Entry(key, .given)
      guard let entry else {
        ledger.add(new)
        return new
      }
      let old = unsafeDowncast(entry, to: Entry<T>.self)
      if old.base == nil, old.scope != .transient { return old }
      ledger.replace(old, by: new)
      return new
    }
  }
}
