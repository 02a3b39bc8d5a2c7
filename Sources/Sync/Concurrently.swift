// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import Synchronization

enum Concurrently {
  /// Calls `body` for each of these, and returns when all calls have.
  ///
  /// - Parameter isWorthIt: whether several at once.
  /// - Throws: of the errors that were thrown that of the first element.
  static func each<Element: Sendable>(
    _ elements: [Element], if isWorthIt: Bool,
    _ body: @Sendable (Element) throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    guard isWorthIt else {
      for element in elements { try body(element) }
      return
    }
    let failures = Mutex<[Int: KeepsakeError]>([:])
    DispatchQueue.concurrentPerform(iterations: elements.count) { index in
      do throws(KeepsakeError) {
        try body(elements[index])
      } catch {
        failures.withLock { $0[index] = error }
      }
    }
    if let first = failures.withLock({ $0.min { $0.key < $1.key } }) { throw first.value }
  }
}
