// SPDX-License-Identifier: Apache-2.0
//
// Who waits while another thread sets: threads that set at once share commits (group commit).
//
// One thread leads. It takes the connection, begins a transaction, makes its own set, then those
// that wait here, and commits all of them. Then it wakes them, and the first of those that came
// meanwhile leads the next group.
//
// Invariants
// - Sets are made in the order in which they came. `waiting` is empty unless a thread leads.
// - The leader calls `finish` in the end, whatever happens, so no thread waits for one that ended.
// - A set that is still waiting may leave, when its time is over; one that was taken may not: its
//   transaction is under way, has SQLite's lock, and ends after at most `SetQueue.most` sets.
// - Of a transaction that another's failure has ended all are put back, in front, and each is made
//   alone: so that only the one that fails has failed.

import Dispatch
import KeepsakeStorage
import KeepsakeValues
import Synchronization

/// A set whose thread waits.
// Sendable: what changes does so only with the lock of its queue.
final class QueuedSet: @unchecked Sendable {
  fileprivate enum Stage {
    case waits, taken, leads
    case made(Result<[SettingChange], KeepsakeError>)
  }

  let write: LocalWrite
  /// Of the wall clock, in milliseconds; its thread has asked: a clock is the application's.
  let time: Int64
  let durability: Durability
  fileprivate var stage = Stage.waits
  fileprivate var isAlone = false
  /// Signalled when the stage has changed and there is something to be done.
  fileprivate let wake = DispatchSemaphore(value: 0)

  init(_ write: LocalWrite, at time: Int64, _ durability: Durability) {
    (self.write, self.time, self.durability) = (write, time, durability)
  }
}

final class SetQueue: Sendable {
  /// How many sets share a commit at most: other processes wait for it.
  static let most = 256

  enum Turn {
    case leads(isAlone: Bool)
    case made(Result<[SettingChange], KeepsakeError>)
    /// The time was over, and nothing was done.
    case late
  }

  private struct State {
    var waiting: [QueuedSet] = []
    var isLed = false
  }
  private let state = Mutex(State())

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
      defer { state.isLed = true }
      return !state.isLed
    }
    if leads { return .leads(isAlone: false) }
    var limit = deadline
    while true {
      let isLate = limit.map { set.wake.wait(timeout: $0) == .timedOut } ?? false
      if limit == nil { set.wake.wait() }
      let turn: Turn? = state.withLock { state in
        switch set.stage {
        case .waits where isLate:
          state.waiting.removeAll { $0 === set }
          return .late
        case .waits: limit = deadline
        case .taken: limit = nil
        case .leads: return .leads(isAlone: set.isAlone)
        case .made(let result): return .made(result)
        }
        return nil
      }
      if let turn { return turn }
    }
  }

  /// For the thread that leads: the next ones, as far as its commit is durable enough for them.
  func take(_ most: Int, _ durability: Durability) -> [QueuedSet] {
    state.withLock { state in
      let taken = Array(
        state.waiting.prefix(most).prefix { $0.durability <= durability && !$0.isAlone })
      state.waiting.removeFirst(taken.count)
      for set in taken { set.stage = .taken }
      return taken
    }
  }

  /// For the thread that leads, when the transaction that they were part of has gone.
  func putBack(_ sets: [QueuedSet]) {
    state.withLock { state in
      for set in sets { (set.stage, set.isAlone) = (.waits, true) }
      state.waiting.insert(contentsOf: sets, at: 0)
    }
    // Those whose time is over by now leave.
    for set in sets { set.wake.signal() }
  }

  /// Tells how they have ended, and lets the next thread lead.
  func finish(_ sets: [(set: QueuedSet, result: Result<[SettingChange], KeepsakeError>)]) {
    let next = state.withLock { state in
      for (set, result) in sets { set.stage = .made(result) }
      let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
      next?.stage = .leads
      state.isLed = next != nil
      return next
    }
    next?.wake.signal()
    for (set, _) in sets { set.wake.signal() }
  }
}
