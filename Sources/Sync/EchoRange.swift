// SPDX-License-Identifier: Apache-2.0

/// Local sequence numbers, `lower` excluded, `upper` included.
struct EchoRange: Equatable {
  var lower: Int64 = 0
  var upper: Int64 = 0

  var isEmpty: Bool { lower == upper }

  /// Grows by a following range. A gap means that another writer came in between; then only the
  /// newer range is kept, and reading the older part again changes nothing.
  mutating func append(_ from: Int64, _ to: Int64) {
    if from != upper || lower == upper { lower = from }
    upper = to
  }
}
