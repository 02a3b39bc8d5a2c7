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
    try demand(key.target).open(as: T.self)
  }

  /// As `get`, but nil if the key is not registered or not set.
  public func find<T: Sendable>(_ key: Key<T> = Key()) throws -> T? {
    try supply(key.target)?.open(as: T.self)
  }

  /// Every object of a type in registration order, from the nearest container that has any.
  public func all<T: Sendable>(_ type: T.Type = T.self) throws -> [T] {
    try refuseCapture(Target(type))
    return try nearest(Target(type)) { candidates in
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
    try refuseCapture(key.target)
    let once = child()
    repeat once.give(each values)
    let made = try nearest(key.target) { candidates in
      try candidates.chosen(for: key.target).read(for: once, new: true)
    }
    guard let made else { throw missing(key.target) }
    return made.open()
  }

  /// Adds an argument; a lookup of one of several arguments of a type is ambiguous.
  private func give<T: Sendable>(_ value: T) { register { _ in value } }

  /// Replaces the object of a key by one from outside; nil removes it, and restores the object that
  /// was made, the recipe, or the parent's object.
  ///
  /// It replaces the object of the registration that `get` uses, for all keys of that registration;
  /// in a child, as the child sees it: the parent keeps its own. An `Injectable` object is injected
  /// and `then:` runs before the container publishes it; call this on the actor on which it
  /// conforms.
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
    let target = key.target
    try refuseCapture(target)
    let box = value.map { Box($0) }
    let kept = weak ? box?.weakly : box
    if let box {
      if kept == nil { throw InjectionError.notAClass(target) }
      // Before `then:` of a copied registration, in which the object would be the application's.
      try admit(box)
    }
    while try !settable(target, isNil: box == nil).set(box, keeping: kept) {}
  }

  /// The registration that `set` changes: the one that a lookup uses, if it is this container's or
  /// a copy that this one has alone; otherwise the one that replaces it here.
  private func settable(_ target: Target, isNil: Bool) throws(InjectionError) -> Entry {
    let own = try locked { (state) throws(InjectionError) in
      try state.candidates(target)?.chosen(for: target)
    }
    if let own { return own }
    if let inherited = try parent?.locate(target) {
      if inherited.site === self { return inherited }
      if !isNil, !inherited.declare() { return try settable(target, isNil: isNil) }
      return locked { $0.replacement(of: inherited, in: self) }
    }
    guard isNil || parent == nil else {
      throw missing(
        target, "`register` it in the child, or declare it in the parent by `set(nil, for:)`.")
    }
    return try locked { (state) throws(InjectionError) in
      // Another thread may have added it meanwhile.
      try state.candidates(target)?.chosen(for: target)
        ?? state.add(Recipe(target: target), to: self, isTemporary: !isNil)
    }
  }

  @usableFromInline func demand(_ target: Target) throws -> AnyBox {
    if let made = try supply(target) { return made }
    throw missing(target)
  }

  func missing(_ target: Target) -> InjectionError {
    let entry = nearest(target) { $0 }?.choice
    let cure =
      switch entry.map(isSet) {
      case nil: "Register it, or add `.as` with this key to the registration of its type."
      case false?: "It is registered but not set: call `set`."
      case true?: "It is set and has no recipe: use `get`."
      }
    return missing(target, cure)
  }

  private func missing(_ target: Target, _ cure: String) -> InjectionError {
    InjectionError(
      code: .missing, path: Frame.path(to: target),
      candidates: nearest(target.unnamed) { $0 }?.all.map(\.label) ?? [], cure: cure)
  }
}
