// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// False when `body` throws, or has not ended in time, as for a deadlock.
public func ends(_ body: @escaping @Sendable () throws -> Void) -> Bool {
  let done = DispatchSemaphore(value: 0)
  let failure = Mutex<(any Error)?>(nil)
  Thread.detachNewThread {
    do {
      try body()
    } catch {
      failure.withLock { $0 = error }
    }
    done.signal()
  }
  guard done.wait(timeout: .now() + 30) == .success else { return false }
  let error = failure.withLock { $0 }
  if let error { print(error) }
  return error == nil
}
