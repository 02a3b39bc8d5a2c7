// SPDX-License-Identifier: Apache-2.0

/// How much is measured: all, or with `--quick` what shows that everything runs.
enum Scale {
  static let isQuick = CommandLine.arguments.contains("--quick")
  static let sizes = isQuick ? [100, 1_000] : [100, 1_000, 10_000, 100_000, 1_000_000]
  static let threads = isQuick ? [1, 4] : [1, 2, 4, 8, 16, 32, 64]
  static let stores = isQuick ? [1, 10] : [1, 10, 100, 1_000]
  static let observers = isQuick ? [10, 100] : [10, 100, 1_000, 10_000]
  static let isLarge = CommandLine.arguments.contains("--large")
  static let large = isQuick ? 10_000 : 10_000_000
  static let largest = isQuick ? 1_000 : 1_000_000
  /// A part of the seconds that a row usually gets.
  static let time = isQuick ? 0.1 : 1.0

  /// A number as texts show it.
  static func name(_ number: Int) -> String {
    var digits = String(number)
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return ([digits] + groups).joined(separator: ",")
  }
}
