// SPDX-License-Identifier: Apache-2.0
//
// Threads that set at the same time share commits (group commit).
//
// One thread leads. It takes the connection, begins a transaction, makes its own set, then those
// that wait here, and commits all of them. Then it wakes them, and the first of those that came
// meanwhile leads the next group. A thread that leads first lets those come that the last commit
// has woken: they are about to set again, and it has nothing locked yet.
//
// Invariants
// - Sets are made in the order in which they came. `waiting` is empty unless a thread leads.
// - The leader calls `finish` in the end, whatever happens, so no thread waits for one that ended.
// - A set that is still waiting may leave, when its time is over; one that was taken may not: its
//   transaction is under way, has SQLite's lock, and ends after at most `SetQueue.most` sets.
// - One that is refused fails alone. What ends the transaction, as a full disk, fails all in it.

import Foundation
import KeepsakeStorage
import KeepsakeValues
import Synchronization

/// A set whose thread waits.
// Sendable: the thread that leads writes `result` before it stores `made`; the set's own thread
// reads it after it has loaded that.
final class QueuedSet: @unchecked Sendable {
  /// `waits` is left, and come back to, only with the lock of the queue.
  fileprivate enum Stage: UInt8, AtomicRepresentable { case waits, taken, leads, made }

  let write: LocalWrite
  /// Of the wall clock, in milliseconds; its thread has asked: a clock is the application's.
  let time: Int64
  let durability: Durability
  /// How it has ended, once it was made.
  var result: Result<[SettingChange], KeepsakeError> = .success([])
  fileprivate let stage = Atomic(Stage.waits)
  /// Signalled when the stage has changed and there is something to be done.
  fileprivate let wake = DispatchSemaphore(value: 0)

  init(_ write: LocalWrite, at time: Int64, _ durability: Durability) {
    (self.write, self.time, self.durability) = (write, time, durability)
  }
}

final class SetQueue: Sendable {
  /// How many sets share a commit at most: other processes wait for it.
  static let most = 256
  /// How often a thread that leads lets others run before it begins.
  private static let spinLimit = 16

  enum Turn {
    case leads
    case made(Result<[SettingChange], KeepsakeError>)
    /// The time was over, and nothing was done.
    case late
  }

  private struct State {
    var waiting: [QueuedSet] = []
    var isLed = false
  }
  private let state = Mutex(State())
  /// How many wait.
  private let length = Atomic(0)
  /// How many sets of other threads the last commit had; used by the thread that leads.
  private let last = Atomic(0)

  /// How many threads are setting now, or wait to.
  var count: Int { state.withLock { $0.waiting.count + ($0.isLed ? 1 : 0) } }

  /// Whether this thread leads now.
  func tryToLead() -> Bool {
    state.withLock { state in
      defer { state.isLed = true }
      return !state.isLed
    }
  }

  /// Waits until a set was made, or has to be made by this thread.
  func wait(_ set: QueuedSet, until deadline: DispatchTime?) -> Turn {
    let leads = state.withLock { state in
      if state.isLed { state.waiting.append(set) }
      length.store(state.waiting.count, ordering: .relaxed)
      defer { state.isLed = true }
      return !state.isLed
    }
    if leads { return .leads }
    var limit = deadline
    while true {
      let isLate = limit.map { set.wake.wait(timeout: $0) == .timedOut } ?? false
      if limit == nil { set.wake.wait() }
      switch set.stage.load(ordering: .acquiring) {
      case .made: return .made(set.result)
      case .leads: return .leads
      case .waits, .taken:
        if isLate, leave(set) { return .late }
        limit = isLate ? nil : deadline
      }
    }
  }

  /// - Returns: false if the set was taken already; its thread will be woken.
  private func leave(_ set: QueuedSet) -> Bool {
    state.withLock { state in
      guard set.stage.load(ordering: .relaxed) == .waits else { return false }
      state.waiting.removeAll { $0 === set }
      length.store(state.waiting.count, ordering: .relaxed)
      return true
    }
  }

  /// For the thread that leads, before it begins: lets as many come as shared the last commit, as
  /// long as any does.
  func gather() {
    let expected = last.load(ordering: .relaxed)
    var (known, idle) = (length.load(ordering: .relaxed), 0)
    for _ in 0..<Self.spinLimit where known < expected && idle < 2 {
      sched_yield()
      let now = length.load(ordering: .relaxed)
      idle = now > known ? 0 : idle + 1
      known = now
    }
  }

  /// For the thread that leads: the next ones, as far as its commit is durable enough for them.
  ///
  /// - Parameter most: how many at most.
  func take(_ most: Int, _ durability: Durability) -> [QueuedSet] {
    // Most often no set waits, and no lock is needed to know that.
    guard length.load(ordering: .relaxed) > 0 else { return [] }
    return state.withLock { state in
      let taken = Array(state.waiting.prefix(most).prefix { $0.durability <= durability })
      state.waiting.removeFirst(taken.count)
      length.store(state.waiting.count, ordering: .relaxed)
      for set in taken { set.stage.store(.taken, ordering: .relaxed) }
      return taken
    }
  }

  /// Wakes the threads of the sets that were made, and lets the next thread lead.
  func finish(_ sets: [QueuedSet]) {
    last.store(sets.count, ordering: .relaxed)
    let next = state.withLock { state in
      let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
      length.store(state.waiting.count, ordering: .relaxed)
      next?.stage.store(.leads, ordering: .releasing)
      state.isLed = next != nil
      return next
    }
    next?.wake.signal()
    for set in sets {
      set.stage.store(.made, ordering: .releasing)
      set.wake.signal()
    }
  }
}
