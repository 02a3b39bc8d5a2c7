// SPDX-License-Identifier: Apache-2.0

// Registering never throws, so that a module is a plain list. What cannot work is reported by
// `validate()`, by `start()`, and by the first lookup that meets it.

extension Container {
  /// What `register` returns, to add further keys.
  public struct Registration<T>: Sendable {
    let container: Container
    let entry: Entry<T>
  }

  /// Registers a closure that makes a `T`.
  ///
  /// - Parameters:
  ///   - key: A name, when the type alone does not say which one is meant.
  ///   - scope: How long the object is kept. Only a `Sendable` one can be shared.
  ///   - primary: Whether an unnamed lookup prefers this among several of the type.
  ///   - make: Makes the object; runs with no lock held, from whatever thread asks first.
  ///   - then: Completes the object before others see it. Property cycles are closed here.
  @discardableResult
  public func register<T>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    make: @escaping @Sendable (Container) throws -> sending T,
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) -> Registration<T> {
    add(Entry(key, .now(make), scope: scope, primary: primary, then: then))
  }

  /// Registers an asynchronous or actor-isolated recipe, as `{ _ in await ViewModel() }`.
  ///
  /// A singleton of this kind is read with `get` after `start()`, before that with `resolve()`.
  @discardableResult
  public func register<T: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    make: @escaping @Sendable (Container) async throws -> T,
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) -> Registration<T> {
    add(
      Entry(key, .later { try await make($0) }, scope: scope, primary: primary, then: then))
  }

  /// Registers an initialiser or function whose arguments are found by type, as `using: Shop.init`.
  ///
  /// Such a recipe is checked by `validate()`. An optional argument is nil when nothing is there.
  @discardableResult
  public func register<T: Sendable, each D: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    using make: @escaping @Sendable (repeat each D) throws -> T,
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) -> Registration<T> {
    register(
      key, scope: scope, primary: primary, using: make, with: repeat Key<each D>(), then: then)
  }

  /// Registers an initialiser or function with one key for each argument.
  @discardableResult
  public func register<T: Sendable, each D: Sendable>(
    _ key: Key<T> = Key(), scope: Scope = .singleton, primary: Bool = false,
    using make: @escaping @Sendable (repeat each D) throws -> T,
    with keys: repeat Key<each D>,
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) -> Registration<T> {
    var needs: [Need] = []
    repeat needs.append(Need(each keys))
    return add(
      Entry(
        key, .now { try make(repeat $0.get(each keys)) }, scope: scope, primary: primary,
        needs: needs, then: then))
  }

  private func add<T>(_ entry: Entry<T>) -> Registration<T> {
    ledger.withLock { $0.add(entry) }
    return Registration(container: self, entry: entry)
  }
}

extension Container.Registration where T: Sendable {
  /// Makes the same object available under another key: a protocol, a superclass, another name.
  ///
  /// `up` converts, so the compiler checks the relation: `.as(Container.Key<any API>()) { $0 }`.
  @discardableResult
  public func `as`<U>(
    _ key: Container.Key<U>, _ up: @escaping @Sendable (T) -> U
  ) -> Self {
    let alias = Entry(
      key, .alias(Alias(entry, up)), primary: entry.isPrimary, order: entry.order)
    container.ledger.withLock { $0.add(alias) }
    return self
  }
}
