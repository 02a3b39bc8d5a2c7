// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// The SQLite that this process uses.
package enum SQLiteVersion {
  package static let text = String(cString: sqlite3_libversion())

  /// Whether its checkpoints may lose commits, but for those that we make ourselves
  /// (`Checkpoint.swift`). https://www.sqlite.org/wal.html#walresetbug
  package static let hasResetBug = hasResetBug(sqlite3_libversion_number())

  /// - Parameter number: as 3051003 for 3.51.3.
  package static func hasResetBug(_ number: Int32) -> Bool {
    switch number {
    case ..<3_007_000, 3_051_003...: false
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
    default: true
    }
  }
}
