// SPDX-License-Identifier: Apache-2.0
//
// Nobody polls: each new change set is shown to those who wait. Whoever has what it waits for, or
// has waited too long, is let go through a stream of at most one element, so it does not matter
// which of the two, or a cancellation, comes first.

import KeepsakeValues
import Synchronization

final class ChangeLog: Sendable {
  struct Recorded {
    var sets: [[Change]] = []
    /// How many of the sets `takeNext` has returned.
    var taken = 0

    mutating func takeNext() -> [Change]? {
      guard taken < sets.count else { return nil }
      defer { taken += 1 }
      return sets[taken]
    }

    func first(where matches: (Change) -> Bool) -> Change? {
      sets.lazy.flatMap { $0 }.first(where: matches)
    }
  }

  /// Returns whether it has to be asked again.
  private typealias Waiter = @Sendable (inout Recorded) -> Bool

  private struct State {
    var recorded = Recorded()
    var waiters: [Int: Waiter] = [:]
    var lastID = 0
  }

  private let state = Mutex(State())

  var sets: [[Change]] { state.withLock { $0.recorded.sets } }

  func clear() { state.withLock { $0.recorded = Recorded() } }

  func append(_ changes: [Change]) {
    state.withLock { state in
      state.recorded.sets.append(changes)
      for (id, waiter) in state.waiters.sorted(by: { $0.key < $1.key })
      where !waiter(&state.recorded) {
        state.waiters[id] = nil
      }
    }
  }

  /// - Parameters:
  ///   - problem: for the error.
  ///   - take: looks for the value among what is recorded, and may mark it as taken.
  func wait<Value: Sendable>(
    for problem: String, within limit: Duration,
    _ take: @escaping @Sendable (inout Recorded) -> Value?
  ) async throws -> Value {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    let id = register { recorded in
      var looked = recorded
      guard let value = take(&looked) else { return true }
      // After the time limit nobody is there to have it: then it is not taken either.
      if case .terminated = continuation.yield(value) { return false }
      continuation.finish()
      recorded = looked
      return false
    }
    defer { state.withLock { $0.waiters[id] = nil } }
    let limiter = Task {
      try await Task.sleep(for: limit)
      continuation.finish(throwing: self.timedOut(problem, limit))
    }
    defer { limiter.cancel() }
    for try await value in stream { return value }
    throw CancellationError()
  }

  private func register(_ waiter: @escaping Waiter) -> Int {
    state.withLock { state in
      state.lastID += 1
      if waiter(&state.recorded) { state.waiters[state.lastID] = waiter }
      return state.lastID
    }
  }

  private func timedOut(_ problem: String, _ limit: Duration) -> ChangeRecorder.TimedOut {
    let keys = sets.map { set in
      "[" + set.map { "\($0.store)/\($0.key)" }.joined(separator: ", ") + "]"
    }
    let seen = keys.isEmpty ? "nothing changed" : "what changed was " + keys.joined(separator: " ")
    return ChangeRecorder.TimedOut(description: "\(problem) within \(limit); \(seen)")
  }
}
