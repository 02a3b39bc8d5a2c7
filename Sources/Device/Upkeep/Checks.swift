// SPDX-License-Identifier: Apache-2.0

import KeepsakeStorage
import KeepsakeValues

extension Device {
  /// The problems of the pages, rows and indexes of the file; empty for a sound one.
  ///
  /// - Parameter limit: the maximum number of problems.
  package func integrityProblems(limit: Int) throws(KeepsakeError) -> [String] {
    try tables.access { try $0.integrityProblems(limit: limit) }
  }

  /// Reads every page of the file.
  ///
  /// - Throws: `KeepsakeError` that says what is damaged. O(n log n) of the entries.
  package func checkIntegrity() throws(KeepsakeError) {
    guard let problem = try integrityProblems(limit: 1).first else { return }
    throw Schema.damaged(path, "the file is damaged (\(problem))")
  }

  /// As `checkIntegrity`, and reads each page from the disk: it may have been damaged since.
  package func checkPages() throws(KeepsakeError) {
    try tables.access { try $0.run("PRAGMA shrink_memory") }
    try checkIntegrity()
  }

  /// Builds the indexes anew. The other pages must be sound.
  package func rebuildIndexes() throws(KeepsakeError) {
    try tables.access { try $0.run("REINDEX") }
  }

  /// Throws for the first entry that no other device would accept. O(entries).
  ///
  /// - Parameter condition: only for those entries `e`.
  package func checkSizes(where condition: String = "true") throws(KeepsakeError) {
    let large = try tables.access { connection in
      try connection.first(
        """
        SELECT store, key, length(CAST(value AS BLOB)) AS size FROM entry AS e
        WHERE (\(condition)) AND value IS NOT NULL
          AND (size > iif(\(Connection.isSynced("store")),
              \(EntrySize.maximumSyncedValue), \(EntrySize.maximumLocalValue))
            OR length(CAST(key AS BLOB)) > \(EntrySize.maximumName)
            OR length(CAST(store AS BLOB)) > \(EntrySize.maximumName))
        ORDER BY store, key LIMIT 1
        """
      ) { (Address(store: $0.text(0), key: $0.text(1)), Int($0.integer(2))) }
    }
    if let (address, size) = large, let problem = EntrySize.problem(address, size) {
      throw KeepsakeError.rowTooLarge(
        path: path, problem, cure: "set a smaller one, or delete the key")
    }
  }
}
