// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A call that waits until another thread ends it, which does nothing else: the limit of whatever
/// one thread does for others, as a set that shares a commit.
final class HandOver: Sendable {
  static let shared = HandOver()

  private let waiting = Mutex<[DispatchSemaphore]>([])
  private let calls = DispatchSemaphore(value: 0)

  private init() { Thread { [self] in while true { endAll() } }.start() }

  func call() {
    let end = DispatchSemaphore(value: 0)
    waiting.withLock { $0.append(end) }
    calls.signal()
    end.wait()
  }

  private func endAll() {
    calls.wait()
    let all = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for end in all { end.signal() }
  }
}
