// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Why the watching ends: waited for by one thread, known to another.
package final class Ending: Sendable {
  private let reason = Mutex<Result<Void, any Error>?>(nil)
  private let isKnown = DispatchSemaphore(value: 0)

  package init() {}

  /// The first that comes counts.
  package func come(_ result: Result<Void, any Error>) {
    let isFirst = reason.withLock { reason in
      defer { reason = reason ?? result }
      return reason == nil
    }
    if isFirst { isKnown.signal() }
  }

  package func wait() throws {
    isKnown.wait()
    try reason.withLock { $0 }?.get()
  }
}
