// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// How far `start()` has come, and who waits for it.
  enum Start: Sendable {
    case awaited([AsyncThrowingStream<Never, any Error>.Continuation])
    case failed(any Error)
    case finished
  }

  /// Validates, then makes every singleton, the parents' too: first the asynchronous ones, then the
  /// others, in registration order. After that each of them is a plain synchronous read.
  ///
  /// - Throws: What `validate()` or a factory throws; `start()` can then be called again.
  public func start() async throws {
    locked { if case .failed = $0.start { $0.start = .awaited([]) } }
    do {
      try validate()
      let singletons = registrations.filter { $0.recipe.scope == .singleton }
      let later = singletons.filter { $0.recipe.makeLater != nil }
      for entry in later + singletons { try await settling { try await entry.prepare() } }
      finish(.finished)
    } catch {
      finish(.failed(error))
      throw error
    }
  }

  private func finish(_ end: Start) {
    let waiting = locked { state in
      defer { if case .finished = state.start {} else { state.start = end } }
      if case .awaited(let waiting) = state.start { return waiting }
      return []
    }
    for waiter in waiting {
      if case .failed(let error) = end { waiter.finish(throwing: error) } else { waiter.finish() }
    }
  }

  /// Returns when `start()` of this container or a parent has finished, at once when it had.
  ///
  /// - Throws: What `start()` threw when it failed last, and `CancellationError` when the waiting
  ///   task is cancelled.
  public func ready() async throws {
    let (stream, waiter) = AsyncThrowingStream<Never, any Error>.makeStream()
    for container in sequence(first: self, next: \.parent) {
      let start = container.locked { state in
        if case .awaited(let others) = state.start { state.start = .awaited(others + [waiter]) }
        return state.start
      }
      switch start {
      case .awaited: continue
      case .failed(let error): throw error
      case .finished: return
      }
    }
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
