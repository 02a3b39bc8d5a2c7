// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Values, as SQL, that a column of a device file seldom or never has.
enum UnusualValues {
  static let numbers = [
    "0", "1", "-1", "2", "7", "9", "255", "65535", "65536", "2147483647", "-2147483648",
    "1 << 32", "(1 << 61)", "(1 << 62) - 1", "(1 << 62)", "(1 << 62) + 1", "9223372036854775807",
    "-9223372036854775807 - 1", "1795132800000 << 16", "7000000000000 << 16", "1 << 40",
  ]

  private static let reals = ["0.5", "-0.0", "1e300", "9e999", "-9e999", "1e-320", "'nan'"]

  private static let texts = [
    "''", "'cloud'", "'cloud:'", "'cloud:x'", "'local'", "'Cloud'", "'k'", "'K'", "'key1'",
    "char(0)", "'a' || char(0) || 'b'", "char(8490)", "'e' || char(769)", "char(233)",
    "char(8238) || 'x'",
    "char(10)", "CAST(x'ff' AS TEXT)", "CAST(x'c080' AS TEXT)", "CAST(x'eda080' AS TEXT)",
    "CAST(x'f4908080' AS TEXT)", "x''", "x'00'", "x'ff'", "zeroblob(3000)",
    "hex(zeroblob(1000))", "hex(zeroblob(600000))", "'V001_initial'",
  ]

  private static let documents = [
    "'[]'", "'{}'", "'[1,'", "'[1,]'", "'[01]'", "'[1e999]'", "'[null]'", "'[1.0]'", "'[ 1]'",
    "'{\"a\":1,\"a\":2}'", "'{\"$date\":1}'", "'{\"$date\":\"x\"}'", "'{\"$real\":\"nan\"}'",
    "'[{\"$data\":\"AA\"}]'", "'{\"$x\":1}'", "'[\"\\ud800\"]'", "'{\"b\":1,\"a\":2}'",
    "replace(hex(zeroblob(20)), '0', '[') || replace(hex(zeroblob(20)), '0', ']')",
    "replace(hex(zeroblob(32)), '0', '[') || replace(hex(zeroblob(32)), '0', ']')",
    "replace(hex(zeroblob(33)), '0', '[') || replace(hex(zeroblob(33)), '0', ']')",
    "replace(hex(zeroblob(500000)), '0', '[')",
    "'[' || replace(hex(zeroblob(100000)), '0', '1,') || '1]'",
    "'{' || replace(hex(zeroblob(20)), '0', '\"a\":{')",
  ]

  /// Values that no device accepts. They are rare, because they take long to write.
  private static let huge = ["zeroblob(80000000)", "hex(zeroblob(40000000))"]

  static func random(
    _ column: String, _ table: String, using generator: inout SeededGenerator
  ) -> String {
    let pool: [String]
    switch Int.random(in: 0..<40, using: &generator) {
    case 0: pool = huge
    case 1...3: pool = ["NULL"]
    case 4...15: pool = numbers
    case 16...19: pool = reals
    case 20...27: pool = texts
    case 28...33: pool = documents
    case 34...36:
      // The value of another row.
      let row = Int.random(in: 0..<70, using: &generator)
      pool = ["(SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(row))"]
    default: pool = ["+ 1", "- 1", "|| 'x'", "* -1", "* 0.5"].map { "\(column) \($0)" }
    }
    return pool.randomElement(using: &generator) ?? "NULL"
  }
}
