// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// Validates, then makes every singleton: first the asynchronous ones, then the others, in
  /// registration order. After that each of them is a plain synchronous read.
  ///
  /// - Throws: What `validate()` or a factory throws; `start()` can then be called again.
  public func start() async throws {
    try validate()
    let singletons = inForce.registrations.filter { $0.recipe.scope == .singleton }
    let later = singletons.filter { $0.recipe.makeLater != nil }
    for entry in later + singletons { try await settling { try await entry.prepare() } }
    let waiting = home.locked { state in
      defer { (state.isReady, state.waiting) = (true, []) }
      return state.waiting
    }
    waiting.forEach { $0.finish() }
  }

  /// Returns when `start()` has finished, at once when it had.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  public func ready() async throws {
    let (stream, opening) = AsyncStream<Never>.makeStream()
    let isReady = home.locked { state in
      if !state.isReady { state.waiting.append(opening) }
      return state.isReady
    }
    if isReady { return }
    for await _ in stream {}
    try Task.checkCancellation()
  }

  /// Whose start makes this one ready: children share what their parents made, unless fresh.
  private var home: Container {
    let container = inForce
    return container.isFresh ? container : container.parent?.home ?? container
  }

  /// As `get`, and waits for asynchronous recipes, its own and those it depends on.
  public func resolve<T: Sendable>(_ key: Key<T> = Key()) async throws -> T {
    try await settling { try get(key) }
  }

  /// Runs `body`; when it stops at an asynchronous object that is not made yet, makes that one and
  /// tries again.
  private func settling<R: Sendable>(
    _ path: [Entry] = [], _ body: @Sendable () async throws -> R
  ) async throws -> R {
    // By key, so that this ends although each try may ask another container.
    var prepared: Set<Target> = []
    while true {
      do {
        return try await body()
      } catch let error as InjectionError {
        guard let entry = error.pending?.entry, prepared.insert(entry.recipe.target).inserted
        else { throw error }
        let loop = path + [entry]
        if path.contains(where: { $0 === entry }) {
          throw InjectionError.circular(loop.map(\.label))
        }
        try await settling(loop) { try await entry.prepare() }
      }
    }
  }
}
