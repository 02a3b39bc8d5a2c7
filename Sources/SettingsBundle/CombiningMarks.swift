// SPDX-License-Identifier: Apache-2.0

extension String {
  /// Whether more than 30 combining marks follow each other, the limit of Unicode's Stream-Safe
  /// Text Format (UAX #15, section 13), which no text of any language exceeds. O(n).
  ///
  /// Comparing by canonical equivalence takes the square of the length of such a run, minutes for
  /// one hostile key.
  package var hasTooManyCombiningMarks: Bool {
    // A mark has at least two bytes.
    guard utf8.count > 60 else { return false }
    var run = 0
    for scalar in unicodeScalars {
      run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
      if run > 30 { return true }
    }
    return false
  }
}
