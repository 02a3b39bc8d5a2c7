// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// The object for a key, made now if need be. Never suspends.
  ///
  /// An unnamed key means the only registration of the type, or the only primary one. While another
  /// thread makes the object, this one is blocked.
  /// Constant time, plus one step for each parent container.
  /// - Throws: `InjectionError`, or what the factory throws; then the next call tries again.
  @inlinable
  public func get<T: Sendable>(_ key: Key<T> = Key()) throws -> T {
    try demand(key.target).open(as: T.self)
  }

  /// As `get`, and waits for asynchronous recipes, its own and those it depends on.
  public func resolve<T: Sendable>(_ key: Key<T> = Key()) async throws -> T {
    try await Pending.settling {
      guard let found = try self.locate(key.target) else { return try self.get(key) }
      guard let box = try await found.entry.resolve(found.owner, self) else {
        throw self.missing(key.target)
      }
      return box.open(as: T.self)
    }
  }

  /// As `get`, and nil when nothing is registered, or what comes from outside is not there.
  public func find<T: Sendable>(_ key: Key<T> = Key()) throws -> T? {
    try supply(key.target)?.open(as: T.self)
  }

  /// Every object of a type, in registration order, from the nearest container that has any.
  public func all<T: Sendable>(_ type: T.Type = T.self) throws -> [T] {
    for (container, owner) in lineage {
      guard let group = container.group(Target(type: type, name: nil)) else { continue }
      return try Group.distinct(group.candidates).compactMap {
        try $0.read(owner, self)?.open(as: T.self)
      }
    }
    return []
  }

  /// A new object whatever its scope, with arguments given for this once.
  ///
  /// The recipe, and the transient recipes that it asks, find the values by type.
  /// - Throws: `InjectionError`, with `notReady` for an asynchronous recipe, or what it throws.
  public func make<T, each A: Sendable>(
    _ key: Key<T> = Key(), with values: repeat each A
  ) throws -> sending T {
    let once = child()
    repeat once.give(each values)
    guard let found = try once.locate(key.target),
      let box = try found.entry.read(found.owner, once, anew: true)
    else { throw missing(key.target) }
    return box.open(as: T.self)
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
    try external(key).set(value.map { Box($0) }, weakly: weak, in: self)
  }
}

extension Container {
  @usableFromInline
  func demand(_ target: Target) throws -> AnyBox {
    if let box = try supply(target) { return box }
    throw missing(target)
  }

  /// The object, or nil when nothing is registered or set.
  private func supply(_ target: Target) throws -> AnyBox? {
    if let entry = evident(target) { return try entry.read(self, self) }
    if let found = try locate(target) { return try found.entry.read(found.owner, self) }
    guard let (nillable, wrapped) = target.nillable else { return nil }
    return nillable.rebox(try supply(wrapped))
  }

  private func missing(_ target: Target) -> InjectionError {
    let known = lineage.flatMap { $0.container.group(target)?.candidates.map(\.label) ?? [] }
    return InjectionError(
      .missing, target, candidates: known,
      cure: known.contains(target.label)
        ? "It is registered but not set: call `set`."
        : "Register it, or add `.as` with this key to what should be found.")
  }

  /// Adds an argument, beside others of its type: two of a kind are an error when asked for.
  private func give<T: Sendable>(_ value: T) {
    change { $0.add(Entry(Key<T>(), .now { _ in Box(value) })) }
  }

  /// The entry that `set` writes to: the one with exactly this key, or a new one.
  private func external<T>(_ key: Key<T>) throws -> Entry {
    // What is replaced leaves the lock before it goes.
    let (entry, replaced): (Entry, Entry?) = try change { ledger in
      let all = ledger.groups[key.target.id]?.candidates ?? []
      let same = all.filter { $0.target.name == key.target.name }
      let old = same.isEmpty ? nil : try Group(same).entry(key.target)
      if let old, old.base == nil, old.scope != .transient { return (old, nil) }
      let new = Entry(key, .given)
      if let old { ledger.replace(old, by: new) } else { ledger.add(new) }
      return (new, old)
    }
    return withExtendedLifetime(replaced) { entry }
  }
}
