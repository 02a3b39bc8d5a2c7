// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice

/// Lets one merge run at a time in this process.
// Sendable: `isRunning` is only touched by the thread that holds the lock.
final class MergeTurn: @unchecked Sendable {
  private let lock = NSRecursiveLock()
  private var isRunning = false

  /// Waits for the turn.
  ///
  /// - Throws: `KeepsakeError` when this very thread is in a merge: an observer was told of a
  ///   change and wants to merge before that merge has ended.
  func begin(_ path: String) throws(KeepsakeError) {
    lock.lock()
    guard !isRunning else {
      lock.unlock()
      throw KeepsakeError(
        .locked, path: path, "an observer of a merge cannot merge",
        cure: "merge when the first merge has returned")
    }
    isRunning = true
  }

  func wait() { lock.withLock {} }

  func end() {
    isRunning = false
    lock.unlock()
  }
}
