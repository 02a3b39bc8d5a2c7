// SPDX-License-Identifier: Apache-2.0

import CKeepsake
import CSQLite
import Foundation
import KeepsakeMigrations
import KeepsakeValues

extension Storage {
  /// Copies the file through SQLite: the copy is consistent, and all locks stay.
  ///
  /// - Throws: `KeepsakeError`, also within a transaction: what it wrote may be taken back.
  package func backUp(to path: String) throws(KeepsakeError) {
    try refuseTransaction("copied")
    let copy: Database
    do {
      copy = try Connector.connect(.file(path), .create, busyHandler)
    } catch {
      throw KeepsakeError(error, path: path)
    }
    try access { connection in
      do {
        try connection.transaction(.deferred) { connection in
          try connection.database.backUp(to: copy)
        }
        copy.close()
      } catch {
        throw blame(error, path, connection, copy)
      }
    }
  }

  private func refuseTransaction(_ verb: String) throws(KeepsakeError) {
    guard versions.isInOurTransaction else { return }
    throw KeepsakeError(
      .locked, path: location.path, "it cannot be \(verb) within a transaction of its own",
      cure: "try again after the transaction")
  }

  /// The error with the path of the file that failed: SQLite does not say which of the two it is.
  private func blame(
    _ error: any Error, _ path: String, _ connection: Connection, _ copy: Database
  ) -> KeepsakeError {
    let own = KeepsakeError(error, path: location.path)
    // A copy writes nothing to this device, which is open already.
    guard (error as? SQLiteError)?.code != keepsake_ioerr_read,
      [.diskFull, .inputOutput, .permissionDenied].contains(own.code)
    else { return own }
    return KeepsakeError(error, path: path, on: copy.handle)
  }

  /// Rewrites the file without unused pages, and moves the log into it where no reader needs it.
  ///
  /// - Throws: `KeepsakeError`, also within a transaction; then the file is as it was.
  package func vacuum() throws(KeepsakeError) {
    try refuseTransaction("compacted")
    do {
      try names?.check()
      // A connection of its own: in memory a large file might not fit, and the change of
      // `temp_store` would take the temporary tables of a merge away.
      let database = try Connector.connect(location, .readWrite, busyHandler)
      defer { database.close() }
      try names?.check()
      let connection = database.connection(location)
      try connection.explaining { try connection.execute("PRAGMA temp_store = FILE; VACUUM") }
      try Checkpoint.run(location, waiting: busyHandler.usual, writers: busyHandler, names)
    } catch {
      throw KeepsakeError(error, path: location.path)
    }
  }
}

extension Connection {
  /// Bytes of the database without its log.
  package func databaseSize() throws -> Int64 {
    let pages = try first("PRAGMA page_count") { $0.integer(0) } ?? 0
    return pages * (try first("PRAGMA page_size") { $0.integer(0) } ?? 0)
  }

  /// The problems of the pages, rows and indexes of the file; empty for a sound one.
  ///
  /// `quick_check` does not find rows that are out of order or missing from an index.
  /// https://www.sqlite.org/pragma.html#pragma_integrity_check
  ///
  /// - Parameter limit: the maximum number of problems.
  package func integrityProblems(limit: Int) throws -> [String] {
    var problems: [String] = []
    let failures = keepsake_read_failures()
    let texts: [String] = try all("PRAGMA integrity_check(\(limit))") { $0.text(0) }
    for line in texts.flatMap({ $0.split(separator: "\n") }) {
      // The line before the others names the database within the connection.
      if line != "ok", !line.hasPrefix("*** in database") { problems.append(String(line)) }
    }
    if !problems.isEmpty { keepFullLog() }
    if !problems.isEmpty, keepsake_read_failures() != failures {
      throw KeepsakeError(system: EIO, path: path)
    }
    return problems
  }
}
