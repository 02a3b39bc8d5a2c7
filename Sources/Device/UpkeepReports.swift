// SPDX-License-Identifier: Apache-2.0

package import KeepsakeStorage
import Synchronization

/// Reports failures of a file's upkeep, which no caller waits for.
package final class UpkeepReports: Sendable {
  private struct Handler: Sendable {
    weak let owner: (any AnyObject & Sendable)?
    let handle: @Sendable (KeepsakeError) -> Void
  }
  private let handlers = Mutex<[Handler]>([])

  package init() {}

  /// - Parameters:
  ///   - owner: who wants to know, as long as it lives.
  ///   - handler: in place of what the same owner gave before; must not keep it.
  package func tell(
    _ owner: any AnyObject & Sendable, _ handler: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    let handler = Handler(owner: owner, handle: handler)
    // What goes does so when nothing is locked any more.
    let gone = handlers.withLock { handlers in
      let owners = handlers.map(\.owner)
      let others = zip(handlers, owners).filter { $1 != nil && $1 !== owner }.map(\.0)
      defer { handlers = others + [handler] }
      return (handlers, owners)
    }
    withExtendedLifetime(gone) {}
  }

  func report(_ error: KeepsakeError) {
    for handler in handlers.withLock({ $0 }) where handler.owner != nil { handler.handle(error) }
  }
}
