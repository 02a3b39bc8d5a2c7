// SPDX-License-Identifier: Apache-2.0

/// A number and a noun in English: "1 entry", "2 entries".
///
/// - Parameter plural: the noun's plural; nil appends an "s".
package func counted(_ number: Int, _ noun: String, plural: String? = nil) -> String {
  "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}
