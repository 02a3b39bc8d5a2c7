// SPDX-License-Identifier: Apache-2.0

// Registering never throws, so that a module is a plain list. What cannot work is reported by
// `validate()`, by `start()`, and by the first lookup that meets it.

extension Container {
  /// Completes an object before others see it.
  public typealias Then<T> = @Sendable (T, Container) throws -> Void

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
    make: @escaping @Sendable (Container) throws -> sending T, then: Then<T>? = nil
  ) -> Registration<T> {
    add(key, scope, primary, then) { Box(try make($0)) }
  }

  /// Registers an asynchronous singleton, as `{ _ in await Database.open() }`.
  ///
  /// It is read with `get` after `start()`, before that with `resolve()`. A recipe that itself asks
  /// with `get` for another one that is not made yet is run again when that one is there. What
  /// conforms to `Injectable` on an actor is not injected by itself: call `inject(into:)` in the
  /// closure.
  @discardableResult @inlinable
  public func register<T: Sendable>(
    _ key: Key<T> = Key(), primary: Bool = false,
    make: @escaping @Sendable (Container) async throws -> T, then: Then<T>? = nil
  ) -> Registration<T> {
    add(key, .singleton, primary, then, later: { Box(try await make($0)) })
  }

  /// Registers a singleton that is made on the main actor, as `{ @MainActor _ in ViewModel() }`.
  ///
  /// It is read like one of an asynchronous recipe.
  @discardableResult @inlinable
  public func register<T: Sendable>(
    _ key: Key<T> = Key(), primary: Bool = false,
    make: @escaping @MainActor @Sendable (Container) throws -> T, then: Then<T>? = nil
  ) -> Registration<T> {
    add(key, .singleton, primary, then, later: { Box(try await make($0)) })
  }

  /// Registers an initialiser or function whose arguments are found by type, as `using: Shop.init`.
  ///
  /// Such a recipe is checked by `validate()`. An optional argument is nil when nothing is there.
  @discardableResult @inlinable @_disfavoredOverload
  public func register<T: Sendable, each D: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    using make: @escaping @Sendable (repeat each D) throws -> T, then: Then<T>? = nil
  ) -> Registration<T> {
    register(
      key, scope: scope, primary: primary, using: make, with: repeat Key<each D>(), then: then)
  }

  /// Registers an initialiser or function with one key for each argument.
  @discardableResult @inlinable @_disfavoredOverload
  public func register<T: Sendable, each D: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    using make: @escaping @Sendable (repeat each D) throws -> T,
    with keys: repeat Key<each D>, then: Then<T>? = nil
  ) -> Registration<T> {
    var needs: [Target] = []
    repeat needs.append((each keys).target)
    return add(key, scope, primary, then, needs: needs) { Box(try make(repeat $0.get(each keys))) }
  }

  @usableFromInline func add<T>(
    _ key: Key<T>, _ scope: Scope, _ primary: Bool, _ then: Then<T>?, needs: [Target] = [],
    now: (@Sendable (Container) throws -> AnyBox)? = nil,
    later: (@Sendable (Container) async throws -> AnyBox)? = nil
  ) -> Registration<T> {
    var recipe = Recipe(target: key.target, scope: scope, isPrimary: primary, needs: needs)
    (recipe.make, recipe.makeLater) = (now, later)
    if let then { recipe.then = { try then($0.open(), $1) } }
    return Registration(container: self, entry: locked { $0.add(recipe, to: self) })
  }

  /// What `register` returns, to add further keys.
  public struct Registration<T>: Sendable {
    let container: Container
    let entry: Entry
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
    var alias = Recipe(target: key.target, isPrimary: entry.recipe.isPrimary)
    alias.convert = { Box(up($0.open())) }
    _ = container.locked { $0.add(alias, to: container, base: entry) }
    return self
  }
}
