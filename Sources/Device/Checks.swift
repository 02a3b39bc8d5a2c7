// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Lets tests wait for a thread's next check.
final class Checks: Sendable {
  private let waiting = Mutex<[DispatchSemaphore]>([])

  func begin() {
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
