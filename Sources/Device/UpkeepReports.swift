// SPDX-License-Identifier: Apache-2.0

package import KeepsakeStorage
import Synchronization

/// Reports failures of a file's upkeep, which no caller waits for.
package final class UpkeepReports: Sendable {
  private let handlers = Mutex<[ObjectIdentifier: @Sendable (KeepsakeError) -> Void]>([:])

  /// - Parameter handler: in place of what the same owner gave before; must not keep it.
  package func tell(_ owner: AnyObject, _ handler: @escaping @Sendable (KeepsakeError) -> Void) {
    handlers.withLock { $0[ObjectIdentifier(owner)] = handler }
  }

  func report(_ error: KeepsakeError) {
    for handler in handlers.withLock({ Array($0.values) }) { handler(error) }
  }
}
