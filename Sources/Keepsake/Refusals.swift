// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Reports the keys of writes that a store's limits have refused.
final class Refusals: Sendable {
  private let handlers = Mutex<[ObjectIdentifier: @Sendable (String) -> Void]>([:])

  func add(_ purpose: ObjectIdentifier, _ handler: @escaping @Sendable (String) -> Void) {
    handlers.withLock { $0[purpose] = handler }
  }

  func report(_ key: String) {
    for handler in handlers.withLock({ Array($0.values) }) { handler(key) }
  }
}
