// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// The identity of a waiting task.
  private final class Ticket: Sendable {}

  /// Validates, then makes every singleton, including the parents': first the asynchronous ones,
  /// then the others, in registration order. Afterwards `get` returns all of them without
  /// suspending.
  ///
  /// - Returns: the singletons, as properties by the names of their keys.
  /// - Throws: the error of `validate()` or of a factory; then `start()` can be called again.
  @discardableResult
  public func start() async throws -> Started {
    try refuseCapture(AnyKey(Container.self))
    update { $0.failure = nil }
    do {
      try validate()
      let singletons = registrations.filter { $0.recipe.scope == .singleton && !isSet($0) }
      let later = singletons.filter { $0.recipe.makeLater != nil }
      for entry in later + singletons {
        try await retrying { try await entry.prepare(in: entry.site) }
      }
    } catch {
      for waiter in update({ $0.failure = error }) { waiter.finish(throwing: error) }
      throw error
    }
    for waiter in update({ ($0.isFinished, $0.failure) = (true, nil) }) { waiter.finish() }
    return Started(container: self)
  }

  /// Changes the state, and releases the old one without the lock.
  ///
  /// - Returns: the waiters.
  @discardableResult
  private func update(_ change: (inout StartState) -> Void) -> [StartState.Continuation] {
    let old = locked { state in
      defer { change(&state.start) }
      return state.start
    }
    return Array(old.waiting.values)
  }

  /// Waits until `start()` of this container or of a parent has succeeded.
  ///
  /// - Throws: the last error of this container's `start()`, or the error of a `start()` that fails
  ///   while this waits; `CancellationError` when the task is cancelled.
  public func ready() async throws {
    let (stream, waiter) = AsyncThrowingStream<Never, any Error>.makeStream()
    let ticket = Ticket()
    let lineage = lineage
    waiter.onTermination = { _ in
      for container in lineage {
        _ = container.locked { $0.start.waiting.removeValue(forKey: ObjectIdentifier(ticket)) }
      }
    }
    defer { waiter.finish() }
    let starts = lineage.map { container in
      container.locked { state in
        state.start.waiting[ObjectIdentifier(ticket)] = waiter
        return (isFinished: state.start.isFinished, failure: state.start.failure)
      }
    }
    if starts.contains(where: \.isFinished) { return }
    if let failure = starts[0].failure { throw failure }
    for try await _ in stream {}
    try Task.checkCancellation()
  }

  /// As `get`, but also runs asynchronous recipes, of the object and of its dependencies.
  ///
  /// If a factory calls `get` for an asynchronous object that does not exist yet, the container
  /// makes that object and runs the factory again. If another task makes the object, this one waits
  /// for it, even when it is cancelled.
  public func resolve<T: Sendable>(_ key: Key<T> = Key()) async throws -> T {
    try await retrying { try get(key) }
  }

  /// Runs `body`. If an asynchronous object is missing, makes that object and runs `body` again.
  private func retrying<R: Sendable>(
    for path: [RegistrationEntry] = [], _ body: @Sendable () async throws -> R
  ) async throws -> R {
    // A key may be asynchronous here and in each parent. The count by key ends the loop even if
    // each attempt uses a new container.
    var prepared: [AnyKey: Int] = [:]
    let limit = lineage.count
    while true {
      do {
        return try await body()
      } catch let error as InjectionError {
        guard let entry = error.prerequisite?.entry, let container = error.prerequisite?.container,
          prepared[entry.recipe.key, default: 0] < limit
        else { throw error }
        prepared[entry.recipe.key, default: 0] += 1
        let loop = path + [entry]
        if path.contains(where: { $0 === entry }) {
          throw InjectionError(.circular, path: loop.map(\.label))
        }
        try await retrying(for: loop) { try await entry.prepare(in: container) }
      }
    }
  }

  /// The singletons of a container that has started, as properties: a key's name is the name of its
  /// object, as in `app.settings.username`.
  ///
  /// Reading a property runs no recipe, so it needs no `try`. It traps with the error's text, as
  /// `inject()` does, for a key that is not registered, is not set, or is not a singleton's. Look
  /// such objects up with `get`: their recipes could fail. `validate()` does not see these reads.
  @dynamicMemberLookup
  public struct Started: Sendable {
    let container: Container

    /// The object of a declared key. O(1); traps as described above.
    public subscript<T: Sendable>(dynamicMember key: KeyPath<Key<T>.Type, Key<T>>) -> T {
      required { try container.kept(Key<T>.self[keyPath: key].erased).open() }
    }
  }

  private func kept(_ key: AnyKey) throws -> AnyBox {
    let entry = nearest(key) { $0.choice }
    if let entry, entry.origin.recipe.scope != .singleton, !isSet(entry), !isSet(entry.origin) {
      throw InjectionError(.notKept, path: ConstructionFrame.path(to: key))
    }
    return try demand(key)
  }
}
