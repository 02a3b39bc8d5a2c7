// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Numbers of rows that are too large for a hub, or for something in between, or that no device
/// reads. A session offers them once a day; each other sync begins with none.
package final class RefusedRows: Sendable {
  /// `end` is when they are offered again, in milliseconds since 1970.
  private let content = Mutex((numbers: Set<Int64>(), end: Int64(0)))

  package init() {}

  var numbers: Set<Int64> { content.withLock { $0.numbers } }

  func insert(_ number: Int64) { content.withLock { _ = $0.numbers.insert(number) } }

  /// Forgets them if their day is over.
  ///
  /// - Parameter now: milliseconds since 1970.
  package func renew(at now: Int64) {
    content.withLock { content in
      let isOver = now >= content.end || now < content.end - 86_400_000
      if isOver { content = ([], now + 86_400_000) }
    }
  }
}
