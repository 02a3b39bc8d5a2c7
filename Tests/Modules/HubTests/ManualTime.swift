// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A clock that a test moves.
final class ManualTime: Sendable {
  private typealias Continuation = CheckedContinuation<Void, any Error>

  private struct State {
    var count = 0
    /// The tasks that sleep, and the tests that wait for these to do so.
    var sleepers: [Int: (duration: Duration, continuation: Continuation)] = [:]
    var passers: [(duration: Duration, continuation: CheckedContinuation<Void, Never>)] = []
  }

  /// Held for a few instructions; what waits goes on outside of it.
  private let state = Mutex(State())

  func sleep(_ duration: Duration) async throws {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let passer = state.withLock { state -> CheckedContinuation<Void, Never>? in
          let place = state.passers.firstIndex { $0.duration == duration }
          guard let place else {
            state.sleepers[number] = (duration, continuation)
            return nil
          }
          return state.passers.remove(at: place).continuation
        }
        if let passer {
          continuation.resume()
          passer.resume()
        } else if Task.isCancelled {
          cancel(number)
        }
      }
    } onCancel: {
      cancel(number)
    }
  }

  /// Pauses of less than a second pass at once.
  func sleepLong(_ duration: Duration) async throws {
    if duration >= .seconds(1) { try await sleep(duration) }
  }

  private func cancel(_ number: Int) {
    let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
    sleeper?.continuation.resume(throwing: CancellationError())
  }

  /// Waits until a task sleeps for that long.
  func begin(_ duration: Duration) async {
    while state.withLock({ state in !state.sleepers.values.contains { $0.duration == duration } }) {
      await Task.yield()
    }
  }

  /// Ends one sleep of that length, as soon as there is one.
  func pass(_ duration: Duration) async {
    await withCheckedContinuation { passer in
      let sleeper = state.withLock { state -> Continuation? in
        guard let found = state.sleepers.first(where: { $0.value.duration == duration }) else {
          state.passers.append((duration, passer))
          return nil
        }
        return state.sleepers.removeValue(forKey: found.key)?.continuation
      }
      guard let sleeper else { return }
      sleeper.resume()
      passer.resume()
    }
  }
}
