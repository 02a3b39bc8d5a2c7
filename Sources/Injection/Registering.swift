// SPDX-License-Identifier: Apache-2.0

// Registering never throws, so that a module is a plain list. What cannot work is reported by
// `validate()`, by `start()`, and by the first lookup that meets it.

extension Container {
  /// What `register` returns, to add further keys.
  public struct Registration<T>: Sendable {
    let container: Container
    let entry: Entry
  }

  /// Registers a closure that makes a `T`.
  ///
  /// - Parameters:
  ///   - key: A name, when the type alone does not say which one is meant.
  ///   - scope: How long the object is kept. Only a `Sendable` one can be shared.
  ///   - primary: Whether an unnamed lookup prefers this among several of the type.
  ///   - make: Makes the object; runs with no lock held, from whatever thread asks first.
  ///   - then: Completes the object before others see it. Property cycles are closed here.
  @discardableResult @inlinable
  public func register<T>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    make: @escaping @Sendable (Container) throws -> sending T,
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) -> Registration<T> {
    add(key, scope, primary, now: { Box(try make($0)) }, then: then)
  }

  /// Registers an asynchronous or actor-isolated recipe, as `{ _ in await ViewModel() }`.
  ///
  /// What conforms to `Injectable` on an actor is not injected here: call `inject(into:)` there.
  /// A singleton of this kind is read with `get` after `start()`, before that with `resolve()`.
  @discardableResult @inlinable
  public func register<T: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    make: @escaping @Sendable (Container) async throws -> T,
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) -> Registration<T> {
    add(key, scope, primary, later: { Box(try await make($0)) }, then: then)
  }

  /// Registers an initialiser or function whose arguments are found by type, as `using: Shop.init`.
  ///
  /// Such a recipe is checked by `validate()`. An optional argument is nil when nothing is there.
  @discardableResult @inlinable
  public func register<T: Sendable, each D: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    using make: @escaping @Sendable (repeat each D) throws -> T,
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) -> Registration<T> {
    register(
      key, scope: scope, primary: primary, using: make, with: repeat Key<each D>(), then: then)
  }

  /// Registers an initialiser or function with one key for each argument.
  @discardableResult @inlinable
  public func register<T: Sendable, each D: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    using make: @escaping @Sendable (repeat each D) throws -> T,
    with keys: repeat Key<each D>,
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) -> Registration<T> {
    var needs: [Target] = []
    repeat needs.append((each keys).target)
    return add(
      key, scope, primary, needs: needs, now: { Box(try make(repeat $0.get(each keys))) },
      then: then)
  }

  @usableFromInline
  func add<T>(
    _ key: Key<T>, _ scope: Scope, _ primary: Bool, needs: [Target] = [],
    now make: @escaping @Sendable (Container) throws -> AnyBox,
    then: (@Sendable (T, Container) throws -> Void)?
  ) -> Registration<T> {
    add(Entry(key, .now(make), scope: scope, primary: primary, needs: needs, then: then))
  }

  @usableFromInline
  func add<T>(
    _ key: Key<T>, _ scope: Scope, _ primary: Bool,
    later make: @escaping @Sendable (Container) async throws -> AnyBox,
    then: (@Sendable (T, Container) throws -> Void)?
  ) -> Registration<T> {
    add(Entry(key, .later(make), scope: scope, primary: primary, then: then))
  }

  private func add<T>(_ entry: Entry) -> Registration<T> {
    change { $0.add(entry) }
    return Registration(container: self, entry: entry)
  }
}

extension Container.Registration where T: Sendable {
  /// Makes the same object available under another key: a protocol, a superclass, another name.
  ///
  /// `up` converts, so the compiler checks the relation: `.as(Container.Key<any API>()) { $0 }`.
  /// A recipe of several statements must say its type, `{ _ -> RealAPI in`, or it is taken for
  /// one of the superclass or protocol.
  @discardableResult
  public func `as`<U>(
    _ key: Container.Key<U>, _ up: @escaping @Sendable (T) -> U
  ) -> Self {
    let recipe = Entry.Recipe.alias(entry) { Box(up($0.open(as: T.self))) }
    let alias = Entry(key, recipe, primary: entry.isPrimary, order: entry.order)
    container.change { $0.add(alias) }
    return self
  }
}
