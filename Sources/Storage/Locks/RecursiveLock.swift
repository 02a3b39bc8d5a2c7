// SPDX-License-Identifier: Apache-2.0

import CKeepsake
import Dispatch
import Synchronization

/// Lets one thread at a time use a connection; a thread that has it may come in again.
final class RecursiveLock: Sendable {
  private let isFree = DispatchSemaphore(value: 1)
  private let holder = Atomic<UInt>(0)

  /// Whether this thread is within.
  var isMine: Bool { holder.load(ordering: .relaxed) == currentThread }

  /// Whether this thread uses any connection, of whatever file: then others may wait for it.
  static var isAnyMine: Bool { keepsake_turns() > 0 }

  /// Takes the lock if it is free; then `leave` has to follow.
  func tryToEnter() -> Bool {
    guard isFree.wait(timeout: .now()) == .success else { return false }
    begin()
    return true
  }

  /// Waits for the turn, unless this thread has it.
  ///
  /// - Parameter limit: how long; nil for as long as it takes.
  /// - Returns: whether `leave` has to follow; nil when the time was over.
  func enter(waiting limit: Duration?) -> Bool? {
    if isMine { return false }
    if let limit {
      let deadline = DispatchTime.now() + limit / .seconds(1)
      guard isFree.wait(timeout: deadline) == .success else { return nil }
    } else {
      isFree.wait()
    }
    begin()
    return true
  }

  private func begin() {
    holder.store(currentThread, ordering: .relaxed)
    keepsake_begin_turn()
  }

  func leave() {
    keepsake_end_turn()
    holder.store(0, ordering: .relaxed)
    isFree.signal()
  }
}
