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
    try nearest(Target(type)) { candidates in
      let all = try candidates.all.compactMap { try $0.read(for: self) }
      return all.isEmpty ? nil : all.map { $0.open(as: T.self) }
    } ?? []
  }

  /// A new object whatever its scope and whatever is set, with arguments given for this once.
  ///
  /// The recipe, and the transient recipes that it asks, find the values by type.
  /// - Throws: `InjectionError`, with `notReady` for an asynchronous recipe, or what it throws.
  public func make<T, each A: Sendable>(
    _ key: Key<T> = Key(), with values: repeat each A
  ) throws -> sending T {
    let once = child()
    repeat once.give(each values)
    let made = try nearest(key.target) { candidates in
      try candidates.chosen(for: key.target).read(for: once, anew: true)
    }
    guard let made else { throw missing(key.target) }
    return made.open()
  }

  /// Adds an argument, beside others of its type: two of a kind are an error when asked for.
  private func give<T: Sendable>(_ value: T) { register { _ in value } }

  /// Puts an object from outside in place of what the key stands for here; nil takes it away, and
  /// what was there is found again: an object that was made, a recipe, or what a parent has.
  ///
  /// An `Injectable` object is injected before others see it, one that conforms on an actor only
  /// there. Registers the key when it is new; `set(nil, for:)` declares it, so that `validate()`
  /// knows.
  /// - Parameter weak: Whether somebody else keeps the object.
  /// - Throws: `InjectionError`, with `notAClass` when a value cannot be kept weakly, and what
  ///   injecting throws; then what was found before is found again.
  public func set<T: Sendable>(
    _ value: T?, for key: Key<T> = Key(), weak: Bool = false
  ) throws {
    let target = key.target
    let box = value.map { Box($0) }
    if weak, let box, box.weakly == nil { throw InjectionError.notAClass(target) }
    let entry = try locked { (state) throws(InjectionError) in
      try state.candidates(target)?.chosen(for: target)
        ?? state.add(Recipe(target: target), to: self)
    }
    try entry.set(box, weakly: weak)
  }

  @usableFromInline func demand(_ target: Target) throws -> AnyBox {
    if let made = try supply(target) { return made }
    throw missing(target)
  }

  func missing(_ target: Target) -> InjectionError {
    let entry = nearest(target) { $0 }?.choice
    let cure =
      switch entry?.state().given {
      case nil where entry == nil:
        "Register it, or add `.as` with this key to what should be found."
      case nil: "It is registered but not set: call `set`."
      default: "It comes from outside and has no recipe: use `get`."
      }
    return InjectionError(
      code: .missing, path: Frame.path(to: target),
      candidates: nearest(target.unnamed) { $0 }?.all.map(\.label) ?? [], cure: cure)
  }
}
