// SPDX-License-Identifier: Apache-2.0

import Foundation
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

  /// - Returns: whether anything handles it.
  @discardableResult package func report(_ error: KeepsakeError) -> Bool {
    let all = handlers.withLock { $0 }.map { (owner: $0.owner, handle: $0.handle) }
      .filter { $0.owner != nil }
    for handler in all { handler.handle(error) }
    return !all.isEmpty
  }

  /// Reports that committed writes are lost. It prints the error if no store handles it, since a
  /// file is often closed after its stores are gone.
  func reportLoss(_ error: KeepsakeError) {
    guard !report(error) else { return }
    let line = Data("keepsake: \(error)\n".utf8)
    Result { try FileHandle.standardError.write(contentsOf: line) }.discardFailure()
  }
}
