// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Lets one thread of this process at a time merge, compact or repair.
// Sendable: what is not atomic is only used by the thread that has the turn.
final class Turn: @unchecked Sendable {
  private let isFree = DispatchSemaphore(value: 1)
  private let owner = Atomic<UInt>(0)
  /// The files that its thread has leased.
  var files: Set<FileID> = []
  /// What runs when it ends.
  var waiting: [(owner: AnyObject, body: () -> Void)] = []

  /// Whether this thread has it.
  var isMine: Bool { owner.load(ordering: .relaxed) == currentThread }

  /// Waits for the turn.
  ///
  /// - Parameter limit: how long; nil for as long as it takes.
  /// - Returns: whether this thread has it now.
  func begin(waiting limit: Duration?) -> Bool {
    let deadline = limit.map { DispatchTime.now() + $0 / .seconds(1) } ?? .distantFuture
    guard isFree.wait(timeout: deadline) == .success else { return false }
    owner.store(currentThread, ordering: .relaxed)
    return true
  }

  /// - Returns: what is to be run now.
  func end() -> [(owner: AnyObject, body: () -> Void)] {
    let waiting = waiting
    self.waiting = []
    owner.store(0, ordering: .relaxed)
    isFree.signal()
    return waiting
  }

  /// Returns when the turn that is taken now has ended; at once within it.
  func waitUntilOver() {
    guard !isMine else { return }
    isFree.wait()
    isFree.signal()
  }
}
