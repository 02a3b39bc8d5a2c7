// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeDevice

extension SharedState {
  /// Returns when the thread that watches other processes has begun a check.
  package func waitForCheck() {
    let next = DispatchSemaphore(value: 0)
    let token = checks.add { _ in next.signal() }
    next.wait()
    token.cancel()
  }
}
