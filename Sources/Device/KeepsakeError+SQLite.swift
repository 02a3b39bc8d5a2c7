// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import KeepsakeValues

extension KeepsakeError {
  /// The same failure in our words. Result codes: https://www.sqlite.org/rescode.html
  init(_ error: any Error, path: String) {
    switch error {
    case let error as KeepsakeError: self = error
    case let error as ValueError:
      self.init(.invalidValue, path: path, error.description, cure: "nothing was written")
    case let error as DatabaseError: self.init(sqlite: error, path: path)
    default:
      self.init(
        .inputOutput, path: path, "\(error)", cure: "nothing was written; try again", cause: error)
    }
  }

  private init(sqlite error: DatabaseError, path: String) {
    let message = error.message ?? "no message"
    func make(_ code: Code, _ problem: String, _ cure: String) -> KeepsakeError {
      KeepsakeError(code, path: path, problem, cure: cure, cause: error)
    }
    if error.extendedResultCode == .SQLITE_IOERR_SHMSIZE {
      // The shared memory beside the log could not be made as large as it has to be.
      self.init(system: ENOSPC, path: path)
      return
    }
    self =
      switch error.resultCode.primaryResultCode {
      case .SQLITE_NOTADB:
        make(.notKeepsake, "this is not a Keepsake file", "name a file that kvsync or an app made")
      case .SQLITE_CORRUPT:
        make(.corrupt, "the file is damaged (\(message))", "restore a backup of it")
      case .SQLITE_BUSY, .SQLITE_LOCKED:
        make(
          .locked, "another program keeps the file locked",
          "try again, or wait longer with a larger busy timeout")
      case .SQLITE_FULL: KeepsakeError(system: ENOSPC, path: path)
      case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
        make(
          .permissionDenied, "the file or its folder cannot be written (\(message))",
          "change the permissions of both, or work on a copy")
      case .SQLITE_CANTOPEN:
        make(
          .permissionDenied, "the file cannot be opened (\(message))",
          "check the permissions of the file and of its folder")
      case .SQLITE_TOOBIG:
        make(.invalidValue, "a value is larger than SQLite can hold", "store a file name instead")
      case .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA:
        // The statements are ours and tested; what they do not fit is the file.
        make(.corrupt, "its contents are not ours (\(message))", "restore a backup of it")
      default:
        make(
          .inputOutput, "SQLite reports \(error.extendedResultCode): \(message)",
          "check the disk and its log, then try again")
      }
  }
}
