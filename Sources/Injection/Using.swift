// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// The object for a key, made now if need be. Never suspends.
  ///
  /// An unnamed key means the only registration of the type, or the only primary one. While another
  /// thread makes the object, this one is blocked.
  /// Constant time, plus one step for each parent container.
  /// - Throws: `InjectionError`, or what the factory throws; then the next call tries again.
  @inlinable public func get<T: Sendable>(_ key: Key<T> = Key()) throws -> T {
    try demand(key.target).open(as: T.self)
  }

  /// As `get`, and nil when nothing is registered, or what comes from outside is not there.
  public func find<T: Sendable>(_ key: Key<T> = Key()) throws -> T? {
    try supply(key.target)?.open(as: T.self)
  }

  /// Every object of a type, in registration order, from the nearest container that has any.
  public func all<T: Sendable>(_ type: T.Type = T.self) throws -> [T] {
    let container = inForce
    return try container.candidates(Target(type)).compactMap {
      try $0.read(for: container)?.open(as: T.self)
    }
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
    guard let made = try locate(key.target)?.read(for: once, anew: true) else {
      throw missing(key.target)
    }
    return made.open()
  }

  /// Adds an argument, beside others of its type: two of a kind are an error when asked for.
  private func give<T: Sendable>(_ value: T) { register { _ in value } }

  /// Puts an object from outside in place of what the key stands for; nil takes it away.
  ///
  /// An `Injectable` object is injected before others see it. Registers the key when it is new;
  /// `set(nil, for:)` declares it, so that `validate()` knows.
  /// - Parameter weak: Whether somebody else keeps the object.
  /// - Throws: `InjectionError`, with `notAClass` when a value cannot be kept weakly.
  public func set<T: Sendable>(
    _ value: T?, for key: Key<T> = Key(), weak: Bool = false
  ) throws {
    let (container, target) = (inForce, key.target)
    let (entry, _) = try container.locked { (state) throws(InjectionError) in
      let old = state.candidates[target] ?? []
      let same = old.filter { $0.recipe.target == target }
      if same.count > 1 { throw .unclear(target, same) }
      return (same.first { $0.base == nil } ?? state.add(Recipe(target: target), container), old)
    }
    try entry.set(value.map { Box($0) }, weakly: weak)
  }

  @usableFromInline func demand(_ target: Target) throws -> AnyBox {
    if let made = try supply(target) { return made }
    throw missing(target)
  }

  /// The object, or nil when nothing is registered or set.
  private func supply(_ target: Target) throws -> AnyBox? {
    switch locked({ $0.recall(target) }) {
    case .made(let made): return made
    case .passing(let entry): return try entry.pass(Frame(entry, self))
    case nil: break
    }
    let (container, changes) = (inForce, locked { $0.changes })
    guard let entry = try container.locate(target) else {
      return try (target.type as? any Nillable.Type).map {
        $0.rebox(try supply(Target($0.wrapped, target.name)))
      }
    }
    let made = try entry.read(for: container)
    if entry.owner === self {
      locked { if $0.changes == changes { $0.remember(entry, made, for: target) } }
    }
    return made
  }

  func missing(_ target: Target) -> InjectionError {
    let known = candidates(Target(target.type)).map(\.recipe.target)
    return InjectionError(
      code: .missing, path: Frame.path(to: target), candidates: known.map(\.label),
      cure: known.contains(target)
        ? "It is registered but not set: call `set`."
        : "Register it, or add `.as` with this key to what should be found.")
  }
}
