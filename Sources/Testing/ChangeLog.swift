// SPDX-License-Identifier: Apache-2.0
//
// Waiting does not poll: each new change set runs the waiters' closures. A waiter resumes through a
// stream of at most one element, so a match, the time limit and cancellation may race.

import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// The changes that a recorder has received, and the tasks that wait for the next ones.
final class ChangeLog: Sendable {
  /// Returns whether to keep waiting.
  private typealias Waiter = @Sendable (inout State) -> Bool

  private struct State {
    var sets: [[SettingChange]] = []
    /// The changes that `next` has returned: the index of the set, and the index in the set.
    var returned: Set<[Int]> = []
    var failures: [KeepsakeError] = []
    var waiters: [Int: Waiter] = [:]
    var lastID = 0
  }

  private let state = Mutex(State())

  var sets: [[SettingChange]] { state.withLock { $0.sets } }

  var failures: [KeepsakeError] { state.withLock { $0.failures } }

  func append(_ failure: KeepsakeError) { state.withLock { $0.failures.append(failure) } }

  /// Discards the changes.
  func clear() { state.withLock { ($0.sets, $0.returned) = ([], []) } }

  func append(_ changes: [SettingChange]) {
    state.withLock { state in
      state.sets.append(changes)
      for (id, waiter) in state.waiters.sorted(by: { $0.key < $1.key }) where !waiter(&state) {
        state.waiters[id] = nil
      }
    }
  }

  /// Returns the first matching change that it has not returned yet, and waits for it if necessary.
  ///
  /// - Returns: nil if there is none within the limit.
  /// - Throws: `CancellationError` when the task is cancelled.
  func next(
    within limit: Duration, where matches: @escaping @Sendable (SettingChange) -> Bool
  ) async throws -> SettingChange? {
    let (stream, continuation) = AsyncStream.makeStream(of: SettingChange.self)
    let id = register { state in
      for (number, set) in state.sets.enumerated() {
        for (index, change) in set.enumerated()
        where !state.returned.contains([number, index]) && matches(change) {
          // After the time limit the change is not delivered, so it must not count as returned.
          if case .terminated = continuation.yield(change) { return false }
          continuation.finish()
          state.returned.insert([number, index])
          return false
        }
      }
      return true
    }
    defer { state.withLock { $0.waiters[id] = nil } }
    let limiter = Task {
      try await Task.sleep(for: limit)
      continuation.finish()
    }
    defer { limiter.cancel() }
    for await change in stream { return change }
    try Task.checkCancellation()
    return nil
  }

  private func register(_ waiter: @escaping Waiter) -> Int {
    state.withLock { state in
      state.lastID += 1
      if waiter(&state) { state.waiters[state.lastID] = waiter }
      return state.lastID
    }
  }
}
