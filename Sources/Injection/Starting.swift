// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// How far `start()` has come, and who waits for it.
  struct Start: Sendable {
    var isFinished = false
    var failure: (any Error)?
    var waiting: [ObjectIdentifier: Waiter] = [:]

    typealias Waiter = AsyncThrowingStream<Never, any Error>.Continuation
  }

  /// Tells one who waits from another.
  private final class Ticket: Sendable {}

  /// Validates, then makes every singleton, the parents' too: first the asynchronous ones, then the
  /// others, in registration order. After that each of them is a plain synchronous read.
  ///
  /// - Throws: What `validate()` or a factory throws; `start()` can then be called again.
  public func start() async throws {
    note { $0.failure = nil }
    do {
      try validate()
      let singletons = registrations.filter { $0.recipe.scope == .singleton }
      let later = singletons.filter { $0.recipe.makeLater != nil }
      for entry in later + singletons { try await settling { try await entry.prepare() } }
    } catch {
      // Whoever keeps the error must not keep the container.
      var failure = error
      if var error = error as? InjectionError {
        error.pending = nil
        failure = error
      }
      for waiter in note({ $0.failure = failure }) { waiter.finish(throwing: failure) }
      throw failure
    }
    for waiter in note({ ($0.isFinished, $0.failure) = (true, nil) }) { waiter.finish() }
  }

  /// Changes the state and returns who waits. What is replaced is let go outside the lock.
  @discardableResult
  private func note(_ change: (inout Start) -> Void) -> [Start.Waiter] {
    let old = locked { state in
      defer { change(&state.start) }
      return state.start
    }
    return Array(old.waiting.values)
  }

  /// Returns when `start()` of this container or of a parent has finished, at once when it had.
  ///
  /// - Throws: What its own `start()` threw last, or what one that it waits for throws, and
  ///   `CancellationError` when the waiting task is cancelled.
  public func ready() async throws {
    let line = Array(sequence(first: self, next: \.parent))
    let (stream, waiter) = AsyncThrowingStream<Never, any Error>.makeStream()
    let ticket = Ticket()
    waiter.onTermination = { _ in
      for container in line {
        _ = container.locked { $0.start.waiting.removeValue(forKey: ObjectIdentifier(ticket)) }
      }
    }
    defer { waiter.finish() }
    let starts = line.map { container in
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

  /// As `get`, and waits for asynchronous recipes, its own and those it depends on.
  ///
  /// A factory that asks with `get` for an asynchronous object that is not made yet fails, and is
  /// run again when that one is there.
  public func resolve<T: Sendable>(_ key: Key<T> = Key()) async throws -> T {
    try await settling { try get(key) }
  }

  /// Runs `body`; when it stops at an asynchronous object that is not made yet, makes that one and
  /// tries again.
  private func settling<R: Sendable>(
    _ path: [Entry] = [], _ body: @Sendable () async throws -> R
  ) async throws -> R {
    // A key may be asynchronous here and in each parent. By key, so that this ends although each
    // try may ask a container that it has just made.
    var prepared: [Target: Int] = [:]
    let most = sequence(first: self, next: \.parent).reduce(0) { count, _ in count + 1 }
    while true {
      do {
        return try await body()
      } catch let error as InjectionError {
        guard let entry = error.pending?.entry, prepared[entry.recipe.target, default: 0] < most
        else { throw error }
        prepared[entry.recipe.target, default: 0] += 1
        let loop = path + [entry]
        if path.contains(where: { $0 === entry }) {
          throw InjectionError.circular(loop.map(\.label))
        }
        try await settling(loop) { try await entry.prepare() }
      }
    }
  }
}
