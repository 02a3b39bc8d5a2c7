// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import Synchronization

/// Observations that last as long as this object.
final class Lifelong: Sendable {
  private let observations = Mutex<[ObjectIdentifier: ObservationToken]>([:])

  /// - Parameter purpose: there is one observation for each.
  func observe(_ purpose: ObjectIdentifier, _ begin: () -> ObservationToken) {
    let isNew = observations.withLock { $0[purpose] == nil }
    guard isNew else { return }
    // Not with the lock: an observer that is notified at once may begin another.
    let observation = begin()
    observations.withLock { $0[purpose] = $0[purpose] ?? observation }
  }
}
