// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Foundation
import KeepsakeValues

extension KeepsakeError {
  /// The same failure in our words. Result codes: https://www.sqlite.org/rescode.html
  ///
  /// - Parameter handle: the connection that failed, while it is open: it knows more.
  package init(_ error: any Error, path: String, on handle: OpaquePointer? = nil) {
    switch error {
    case let error as KeepsakeError: self = error
    case let error as ValueError:
      self.init(.invalidValue, path: path, error.description, cure: "nothing was written")
    case let error as SQLiteError:
      if let fault = SystemFault(error, on: handle) {
        self.init(system: fault.code, path: fault.attached ?? path, cause: error)
      } else {
        self.init(sqlite: error, path: path)
      }
    default:
      self.init(
        .inputOutput, path: path, "\(error)", cure: "nothing was written; try again", cause: error)
    }
  }

  private init(sqlite error: SQLiteError, path: String) {
    let message = error.message ?? "no message"
    func make(_ code: Code, _ problem: String, _ cure: String) -> KeepsakeError {
      KeepsakeError(code, path: path, problem, cure: cure, cause: error)
    }
    self =
      switch error.primaryCode {
      case SQLITE_NOTADB:
        make(.notKeepsake, "this is not a Keepsake file", "name a file that kvsync or an app made")
      case SQLITE_CORRUPT:
        make(.corrupt, "the file is damaged (\(message))", "restore a backup of it")
      case SQLITE_BUSY, SQLITE_LOCKED:
        make(
          .locked, "another program keeps the file locked",
          "try again, or wait longer with a larger busy timeout")
      case SQLITE_FULL: KeepsakeError(system: ENOSPC, path: path)
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
        make(
          .permissionDenied, "the file or its folder cannot be written (\(message))",
          "change the permissions of both, or work on a copy")
      case SQLITE_CANTOPEN:
        make(
          .permissionDenied, "the file cannot be opened (\(message))",
          "check the permissions of the file and of its folder")
      case SQLITE_TOOBIG:
        // What we write is measured before.
        make(.corrupt, "it holds more in one row than any device accepts", "do not trust this file")
      case SQLITE_INTERRUPT:
        make(
          .corrupt, "reading it takes longer than its size can explain",
          "do not trust this file; restore a backup of it")
      case SQLITE_ERROR
      where ["same text encoding", "unsupported file format"].contains(where: message.contains):
        // What ATTACH says of a header that names another encoding, and what every opening says of
        // one with another format of the schema: no file of ours has either.
        make(.corrupt, "the file is damaged (\(message))", "restore a backup of it")
      case SQLITE_ERROR, SQLITE_SCHEMA:
        // The schema was checked when the file was opened: another program changes it, or this one
        // is at fault. Neither is damage, for which a file could be put aside.
        make(
          .inputOutput, "SQLite refuses a statement (\(message))",
          "open the file anew; if that does not help, look at it with kvsync doctor")
      case SQLITE_CONSTRAINT, SQLITE_MISMATCH:
        // The statements are ours and tested; what they do not fit is the file.
        make(.corrupt, "its contents are not ours (\(message))", "restore a backup of it")
      default:
        make(
          .inputOutput, "SQLite reports \(error.code): \(message)",
          "check the disk and its log, then try again")
      }
  }
}
