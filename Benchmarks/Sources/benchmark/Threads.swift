// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Runs a body once in each of so many threads at once, which are there before the clock starts.
///
/// - Returns: the nanoseconds until all are done.
func together(_ threads: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws -> Double {
  let round = Round(threads, body)
  for number in 0..<threads {
    let thread = Thread { round.run(number) }
    thread.stackSize = 1 << 19
    thread.start()
  }
  return try round.wait()
}

private final class Round: Sendable {
  private let body: @Sendable (Int) throws -> Void
  private let threads: Int
  private let ready = Atomic(0)
  private let done = DispatchGroup()
  private let failure = Mutex<(any Error)?>(nil)
  private let start = Mutex<UInt64?>(nil)

  init(_ threads: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    (self.threads, self.body) = (threads, body)
    for _ in 0..<threads { done.enter() }
  }

  func run(_ number: Int) {
    defer { done.leave() }
    ready.add(1, ordering: .acquiringAndReleasing)
    while ready.load(ordering: .acquiring) < threads { sched_yield() }
    start.withLock { $0 = $0 ?? now() }
    do { try body(number) } catch { failure.withLock { $0 = error } }
  }

  func wait() throws -> Double {
    done.wait()
    let end = now()
    if let error = failure.withLock({ $0 }) { throw error }
    return Double(end - (start.withLock { $0 } ?? end))
  }
}

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
