// SPDX-License-Identifier: Apache-2.0

/// A number and what it counts, for people: "1 entry", "2 entries".
///
/// - Parameter plural: where an "s" is not enough.
package func counted(_ number: Int, _ noun: String, plural: String? = nil) -> String {
  "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}
