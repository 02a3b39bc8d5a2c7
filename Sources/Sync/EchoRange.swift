// SPDX-License-Identifier: Apache-2.0

/// Local sequence numbers, `lower` excluded, `upper` included.
package struct EchoRange: Sendable, Equatable {
  package var lower: Int64 = 0
  package var upper: Int64 = 0

  package init(lower: Int64 = 0, upper: Int64 = 0) { (self.lower, self.upper) = (lower, upper) }

  var isEmpty: Bool { lower == upper }

  /// Grows by a following range. A gap means that another writer came in between; then only the
  /// newer range is kept, and reading the older part again changes nothing.
  package mutating func append(_ from: Int64, _ to: Int64) {
    if from != upper || lower == upper { lower = from }
    upper = to
  }
}
