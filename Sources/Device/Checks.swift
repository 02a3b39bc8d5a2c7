// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Lets tests count a thread's checks, and wait for the next one.
final class Checks: Sendable {
  private let begun = Atomic(0)
  private let waiting = Mutex<[DispatchSemaphore]>([])

  /// How many the thread has begun.
  var count: Int { begun.load(ordering: .acquiring) }

  func begin() {
    begun.add(1, ordering: .releasing)
    waiting.withLock { waiting in
      for one in waiting { one.signal() }
      waiting = []
    }
  }

  /// Returns when the thread has begun once more.
  func waitForNext() {
    let next = DispatchSemaphore(value: 0)
    waiting.withLock { $0.append(next) }
    next.wait()
  }
}
