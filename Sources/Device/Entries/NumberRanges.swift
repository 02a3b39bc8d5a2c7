// SPDX-License-Identifier: Apache-2.0

/// A set of sequence numbers, as ascending ranges.
package struct NumberRanges: Equatable, Sendable {
  package private(set) var ranges: [ClosedRange<Int64>] = []

  package init() {}

  /// Adds a range that comes after all others.
  package mutating func append(_ range: ClosedRange<Int64>) {
    if let last = ranges.last, last.upperBound + 1 == range.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound...range.upperBound
    } else {
      ranges.append(range)
    }
  }

  /// The numbers after `lower` up to `upper` that are not in the set, as half-open intervals:
  /// each lower bound is excluded.
  package func gaps(after lower: Int64, through upper: Int64) -> [(lower: Int64, upper: Int64)] {
    var gaps: [(lower: Int64, upper: Int64)] = []
    var start = lower
    for range in ranges where range.upperBound > lower && range.lowerBound <= upper {
      if range.lowerBound - 1 > start { gaps.append((start, range.lowerBound - 1)) }
      start = max(start, range.upperBound)
    }
    if start < upper { gaps.append((start, upper)) }
    return gaps
  }
}
