// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Runs a body `count` times in each of two threads at once.
///
/// - Returns: the nanoseconds that a thread waits for one run.
@inline(__always)
func twice(_ count: Int, _ body: @Sendable () throws -> Void) throws -> Double {
  let failures = Atomic(0)
  let start = now()
  DispatchQueue.concurrentPerform(iterations: 2) { _ in
    do {
      for _ in 0..<count { try body() }
    } catch {
      failures.add(1, ordering: .relaxed)
    }
  }
  let time = Double(now() - start) / Double(count)
  guard failures.load(ordering: .relaxed) == 0 else { throw Failure("a read failed") }
  return time
}

/// Runs `write` without a pause on another thread for as long as `body` takes.
func beside(
  _ write: @Sendable (Int) throws -> Void, _ body: @Sendable () -> Double
) throws -> Double {
  let isOver = Atomic(false)
  let isOn = Atomic(false)
  let failure = Mutex<(any Error)?>(nil)
  let result = Mutex(0.0)
  DispatchQueue.concurrentPerform(iterations: 2) { thread in
    if thread == 0 {
      while !isOn.load(ordering: .acquiring) {}
      let time = body()
      result.withLock { $0 = time }
      isOver.store(true, ordering: .releasing)
    } else {
      do {
        var index = 0
        repeat {
          try write(index)
          index += 1
          isOn.store(true, ordering: .releasing)
        } while !isOver.load(ordering: .acquiring)
      } catch {
        failure.withLock { $0 = error }
        isOn.store(true, ordering: .releasing)
      }
    }
  }
  if let error = failure.withLock({ $0 }) { throw error }
  return result.withLock { $0 }
}
