// SPDX-License-Identifier: Apache-2.0

import CKeepsake
import Foundation
import KeepsakeMigrations

extension Connection {
  /// What is wrong with the pages, rows and indexes of the file; none in a sound one.
  ///
  /// Not `quick_check`: that one lets rows pass that are out of order or lack in an index, which a
  /// merge would neither find nor miss. Of a newer schema only the tables that this version knows.
  /// https://www.sqlite.org/pragma.html#pragma_integrity_check
  ///
  /// - Parameter limit: how many are enough.
  package func integrityProblems(limit: Int) throws -> [String] {
    // Not `count(*)`, which walks the pages without ever asking whether to go on.
    let migrations =
      try first("SELECT count(name) FROM migration") { $0.integer(0) } ?? 0
    let isNewer = migrations > Migrations.version
    var problems: [String] = []
    let failures = keepsake_read_failures()
    for argument in try isNewer ? Schema.tables : ["\(limit)"] where problems.count < limit {
      let texts: [String] = try all("PRAGMA integrity_check(\(argument))") { $0.text(0) }
      for line in texts.flatMap({ $0.split(separator: "\n") }) {
        // The line before the others names the database within the connection.
        if line != "ok", !line.hasPrefix("*** in database") { problems.append(String(line)) }
      }
    }
    if !problems.isEmpty {
      keepFullLog()
      CheckRecord.forget(path)
    }
    if !problems.isEmpty, keepsake_read_failures() != failures {
      throw KeepsakeError(system: EIO, path: path)
    }
    return problems
  }
}

extension Storage {
  /// Reads every page of the file.
  ///
  /// - Throws: `KeepsakeError` that says what is damaged. O(n log n) of the entries.
  package func checkIntegrity() throws(KeepsakeError) {
    guard let problem = try access({ try $0.integrityProblems(limit: 1) }).first else { return }
    throw KeepsakeError(
      .corrupt, path: location.path, "the file is damaged (\(problem))",
      cure: "restore a backup of it")
  }
}
