// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// The object for a key, made if necessary. Never suspends.
  ///
  /// A key without a name matches the only registration of the type, or the only primary one.
  /// Blocks while another thread makes the object. Takes no lock for a singleton that exists,
  /// unless `set` has replaced an object in a child. O(parent containers).
  ///
  /// - Throws: `InjectionError`, or the factory's error; the next call tries again.
  @inlinable public func get<T: Sendable>(_ key: Key<T> = Key()) throws -> T {
    try demand(key.erased).open(as: T.self)
  }

  /// As `get`, but nil if the key is not registered or not set.
  public func find<T: Sendable>(_ key: Key<T> = Key()) throws -> T? {
    try supply(key.erased)?.open(as: T.self)
  }

  /// Every object of a type in registration order, from the nearest container that has any.
  public func all<T: Sendable>(_ type: T.Type = T.self) throws -> [T] {
    try refuseCapture(AnyKey(type))
    return try nearest(AnyKey(type)) { candidates in
      let all = try candidates.all.compactMap { try object(of: $0) }
      return all.isEmpty ? nil : all.map { $0.open(as: T.self) }
    } ?? []
  }

  /// Makes a new object with arguments, regardless of its scope and of `set`.
  ///
  /// The recipe, and the transient recipes that it depends on, find the values by type.
  ///
  /// - Throws: `InjectionError`, with `notReady` for an asynchronous recipe, and `tooDeep` for a
  ///   recipe that makes itself in more than 30 levels; or the recipe's error.
  public func make<T, each A: Sendable>(
    _ key: Key<T> = Key(), with values: repeat each A
  ) throws -> sending T {
    try refuseCapture(key.erased)
    let once = child()
    repeat once.give(each values)
    let made = try nearest(key.erased) { candidates in
      try candidates.chosen().read(for: once, new: true)
    }
    guard let made else { throw missing(key.erased) }
    return made.open()
  }

  /// Adds an argument; a lookup of one of several arguments of a type is ambiguous.
  private func give<T: Sendable>(_ value: T) { register { _ in value } }

  /// Replaces the object of a key by one from outside; nil removes it, and restores the object that
  /// was made, the recipe, or the parent's object.
  ///
  /// It replaces the object of the registration that `get` uses, for all keys of that registration.
  /// In a child it does so only for the child: the parent keeps its object. An `Injectable` object
  /// is injected and `then:` runs before the container publishes it; call this on the actor on
  /// which the object conforms.
  ///
  /// In a container without a parent it registers a new key until nil removes it; nil for a new key
  /// declares it. A child cannot set a new key, which nothing would look up.
  ///
  /// - Parameters:
  ///   - value: the object; nil for none.
  ///   - key: identifies it, by default by its type alone.
  ///   - weak: whether the container only keeps a weak reference.
  /// - Throws: `InjectionError`, with `missing` for a new key of a child, `ambiguous` as `get`,
  ///   `notAClass` for a weak value that is not a class instance, `circular` if it was completed
  ///   with an object that failed; or an error of the injection. Then nothing changes.
  public func set<T: Sendable>(
    _ value: T?, for key: Key<T> = Key(), weak: Bool = false
  ) throws {
    let erased = key.erased
    try refuseCapture(erased)
    let box = value.map { Box($0) }
    let kept = weak ? box?.weakly : box
    if let box {
      if kept == nil {
        throw InjectionError(.notAClass, path: ConstructionFrame.path(to: erased))
      }
      // `set` of a copied registration would check it as an object of the application.
      try admit(box)
    }
    while try !settable(erased, isNil: box == nil).set(box, keeping: kept) {}
  }

  /// The registration that `set` changes: the one that a lookup uses, if it is this container's or
  /// a copy for this fresh child; otherwise the one that replaces it here.
  private func settable(
    _ key: AnyKey, isNil: Bool
  ) throws(InjectionError) -> RegistrationEntry {
    let own = try locked { (state) throws(InjectionError) in try state.candidates[key]?.chosen() }
    if let own { return own }
    if let inherited = try parent?.locate(key) {
      if inherited.site === self { return inherited }
      if !isNil, !inherited.declare() { return try settable(key, isNil: isNil) }
      return locked { $0.replacement(of: inherited, in: self) }
    }
    guard isNil || parent == nil else {
      throw missing(
        key, cure: "`register` it in the child, or declare it in the parent by `set(nil, for:)`.")
    }
    return try locked { (state) throws(InjectionError) in
      // Another thread may have added it meanwhile.
      try state.candidates[key]?.chosen()
        ?? state.add(Recipe(key: key), to: self, isTemporary: !isNil)
    }
  }

  @usableFromInline func demand(_ key: AnyKey) throws -> AnyBox {
    if let made = try supply(key) { return made }
    throw missing(key)
  }

  func missing(_ key: AnyKey, cure: String? = nil) -> InjectionError {
    let registered = nearest(key) { $0 }?.choice
    let usual: String? =
      switch registered.map(isSet) {
      case nil: nil
      case false?: "It is registered but not set: call `set`."
      case true?: "It is set and has no recipe: use `get`."
      }
    return InjectionError(
      .missing, path: ConstructionFrame.path(to: key),
      candidates: nearest(key.unnamed) { $0 }?.all.map(\.label) ?? [], cure: cure ?? usual)
  }
}
