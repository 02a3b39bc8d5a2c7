// SPDX-License-Identifier: Apache-2.0
//
// Waiting does not poll: each new change set runs the waiters' closures. A waiter resumes through a
// stream of at most one element, so a match, the time limit and cancellation may race.

import KeepsakeDevice
import KeepsakeValues
import Synchronization

final class ChangeLog: Sendable {
  struct Recorded {
    var sets: [[SettingChange]] = []
    /// The changes that `takeFirst` has returned: the set's number and that in the set.
    var takenChanges: Set<[Int]> = []

    mutating func takeFirst(where matches: (SettingChange) -> Bool) -> SettingChange? {
      for (number, set) in sets.enumerated() {
        for (place, change) in set.enumerated()
        where !takenChanges.contains([number, place]) && matches(change) {
          takenChanges.insert([number, place])
          return change
        }
      }
      return nil
    }
  }

  /// Returns whether to keep waiting.
  private typealias Waiter = @Sendable (inout Recorded) -> Bool

  private struct State {
    var recorded = Recorded()
    var failures: [KeepsakeError] = []
    var waiters: [Int: Waiter] = [:]
    var lastID = 0
  }

  private let state = Mutex(State())

  var sets: [[SettingChange]] { state.withLock { $0.recorded.sets } }

  var failures: [KeepsakeError] { state.withLock { $0.failures } }

  func append(_ failure: KeepsakeError) { state.withLock { $0.failures.append(failure) } }

  /// Discards the changes.
  func clear() { state.withLock { $0.recorded = Recorded() } }

  func append(_ changes: [SettingChange]) {
    state.withLock { state in
      state.recorded.sets.append(changes)
      for (id, waiter) in state.waiters.sorted(by: { $0.key < $1.key })
      where !waiter(&state.recorded) {
        state.waiters[id] = nil
      }
    }
  }

  /// - Parameters:
  ///   - take: finds the value in the recorded changes, and may mark it as taken.
  ///   - timedOut: the error when the value is not there within the limit.
  func wait<Value: Sendable>(
    within limit: Duration, _ take: @escaping @Sendable (inout Recorded) -> Value?,
    orThrow timedOut: @escaping @Sendable () -> any Error
  ) async throws -> Value {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    let id = register { recorded in
      var looked = recorded
      guard let value = take(&looked) else { return true }
      // After the time limit the value is not delivered, so it must not count as taken.
      if case .terminated = continuation.yield(value) { return false }
      continuation.finish()
      recorded = looked
      return false
    }
    defer { state.withLock { $0.waiters[id] = nil } }
    let limiter = Task {
      try await Task.sleep(for: limit)
      continuation.finish(throwing: timedOut())
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
}
