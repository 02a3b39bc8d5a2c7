// SPDX-License-Identifier: Apache-2.0

// Registering never throws, so a module is a plain list. `validate()`, `start()` and lookups report
// wrong registrations.

extension Container {
  /// Completes an object before the container publishes it.
  public typealias Then<T> = @Sendable (T, Container) throws -> Void

  /// Registers a closure that makes a `T`.
  ///
  /// - Parameters:
  ///   - key: a name that distinguishes this from other registrations of the type.
  ///   - scope: the object's lifetime; only a `Sendable` object can be shared.
  ///   - primary: whether a lookup without a name prefers this among several of the type.
  ///   - make: makes the object; runs without a lock, on the thread of the first lookup.
  ///   - then: completes the object before the container publishes it, such as by closing a cycle
  ///     of properties.
  @discardableResult @inlinable
  public func register<T>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    make: @escaping @Sendable (Container) throws -> sending T, then: Then<T>? = nil
  ) -> Registration<T> {
    add(key, scope: scope, primary: primary, then: then) { Box(try make($0)) }
  }

  /// Registers an asynchronous singleton, such as `{ _ in await Database.open() }`.
  ///
  /// Read it with `get` after `start()`, with `resolve()` before. If its recipe calls `get` for
  /// another asynchronous object that does not exist yet, the container makes that one and runs the
  /// recipe again. It does not inject an object that conforms to `Injectable` on an actor: call
  /// `inject(into:)` in the closure.
  @discardableResult @inlinable
  public func register<T: Sendable>(
    _ key: Key<T> = Key(), primary: Bool = false,
    make: @escaping @Sendable (Container) async throws -> T, then: Then<T>? = nil
  ) -> Registration<T> {
    add(key, scope: .singleton, primary: primary, then: then, later: { Box(try await make($0)) })
  }

  /// Registers a singleton of the main actor, such as `{ @MainActor _ in ViewModel() }`.
  ///
  /// Read it like that of an asynchronous recipe.
  @discardableResult @inlinable
  public func register<T: Sendable>(
    _ key: Key<T> = Key(), primary: Bool = false,
    make: @escaping @MainActor @Sendable (Container) throws -> T, then: Then<T>? = nil
  ) -> Registration<T> {
    add(key, scope: .singleton, primary: primary, then: then, later: { Box(try await make($0)) })
  }

  /// Registers an initialiser or function, such as `using: Shop.init`, and finds its arguments by
  /// type.
  ///
  /// `validate()` checks the arguments. An optional argument is nil if its type is not registered
  /// or not set.
  @discardableResult @inlinable @_disfavoredOverload
  public func register<T: Sendable, each D: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    using make: @escaping @Sendable (repeat each D) throws -> T, then: Then<T>? = nil
  ) -> Registration<T> {
    register(
      key, scope: scope, primary: primary, using: make, with: repeat Key<each D>(), then: then)
  }

  /// Registers an initialiser or function with a key for each argument.
  @discardableResult @inlinable @_disfavoredOverload
  public func register<T: Sendable, each D: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    using make: @escaping @Sendable (repeat each D) throws -> T,
    with keys: repeat Key<each D>, then: Then<T>? = nil
  ) -> Registration<T> {
    var needs: [AnyKey] = []
    repeat needs.append((each keys).erased)
    return add(key, scope: scope, primary: primary, then: then, needs: needs) {
      Box(try make(repeat $0.get(each keys)))
    }
  }

  @usableFromInline func add<T>(
    _ key: Key<T>, scope: Scope, primary: Bool, then: Then<T>?, needs: [AnyKey] = [],
    now: (@Sendable (Container) throws -> AnyBox)? = nil,
    later: (@Sendable (Container) async throws -> AnyBox)? = nil
  ) -> Registration<T> {
    var recipe = Recipe(key: key.erased, scope: scope, isPrimary: primary, needs: needs)
    (recipe.make, recipe.makeLater) = (now, later)
    if let then { recipe.then = { try then($0.open(), $1) } }
    // A recipe that a copied recipe registers may have captured the same container.
    recipe.origin = CopyOrigin.current
    return Registration(container: self, entry: locked { $0.add(recipe, to: self) })
  }

  /// The result of `register`, to add further keys with `as`.
  public struct Registration<T>: Sendable {
    let container: Container
    let entry: RegistrationEntry
  }
}

extension Container.Registration where T: Sendable {
  /// Registers the same object under another key: a protocol, a superclass, another name.
  ///
  /// `up` converts, so the compiler checks the relation: `.as(Container.Key<any API>()) { $0 }`.
  /// A recipe of several statements must declare its type, `{ _ -> RealAPI in`, or Swift infers the
  /// superclass or protocol.
  @discardableResult
  public func `as`<U>(
    _ key: Container.Key<U>, _ up: @escaping @Sendable (T) -> U
  ) -> Self {
    var alias = Recipe(key: key.erased, isPrimary: entry.recipe.isPrimary)
    alias.convert = { Box(up($0.open())) }
    alias.origin = CopyOrigin.current ?? entry.recipe.origin
    _ = container.locked { $0.add(alias, to: container, base: entry) }
    return self
  }
}
