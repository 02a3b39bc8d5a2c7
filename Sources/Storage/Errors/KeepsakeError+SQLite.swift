// SPDX-License-Identifier: Apache-2.0

import CKeepsake
import CSQLite
import Foundation
import KeepsakeValues

extension KeepsakeError {
  /// Converts an error. Result codes: https://www.sqlite.org/rescode.html
  ///
  /// - Parameter handle: the connection that failed, if it is open: it has more details.
  package init(_ error: any Error, path: String, on handle: OpaquePointer? = nil) {
    switch error {
    case let error as KeepsakeError: self = error
    case let error as ValueError:
      self.init(.invalidValue, path: path, error.description, cure: "nothing was written")
    case let error as SQLiteError:
      self.init(sqlite: error, path: path, on: handle)
    default:
      self.init(
        .inputOutput, path: path, "\(error)", cure: "nothing was written; try again", cause: error)
    }
  }

  private init(sqlite error: SQLiteError, path: String, on handle: OpaquePointer?) {
    // What the system answered to the connection's last call.
    let errno = handle.map(sqlite3_system_errno) ?? 0
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
      case SQLITE_FULL:
        KeepsakeError(system: Self.noRoom, path: path, cause: error)
      case SQLITE_NOMEM: KeepsakeError(system: ENOMEM, path: path, cause: error)
      case SQLITE_CANTOPEN where [EMFILE, ENFILE].contains(errno):
        KeepsakeError(system: errno, path: path, cause: error)
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
        make(
          .permissionDenied, "the file or its folder cannot be written (\(message))",
          "change the permissions of both, or work on a copy")
      case SQLITE_CANTOPEN:
        make(
          .permissionDenied, "the file cannot be opened (\(message))",
          "check the permissions of the file and of its folder")
      case SQLITE_TOOBIG:
        // Our own rows are measured before they are written.
        make(.corrupt, "it holds more in one row than any device accepts", "do not trust this file")
      case SQLITE_INTERRUPT:
        make(
          .corrupt, "reading it takes longer than its size can explain",
          "do not trust this file; restore a backup of it")
      case SQLITE_ERROR
      where ["same text encoding", "unsupported file format"].contains(where: message.contains):
        // ATTACH reports a header with another encoding, and opening one with another schema
        // format. No file of ours has either.
        make(.corrupt, "the file is damaged (\(message))", "restore a backup of it")
      case SQLITE_ERROR, SQLITE_SCHEMA:
        // The schema was checked when the file was opened: another program changes it, or this one
        // is at fault. Neither is damage, for which a file could be put aside.
        make(
          .inputOutput, "SQLite refuses a statement (\(message))",
          "open the file anew; if that does not help, look at it with kvsync doctor")
      case SQLITE_CONSTRAINT, SQLITE_MISMATCH:
        // Our statements are tested, so the file is at fault.
        make(.corrupt, "its contents are not ours (\(message))", "restore a backup of it")
      default:
        KeepsakeError(ioError: error, path: path, errno, on: handle)
          ?? make(
            .inputOutput, "SQLite reports: \(message) (code \(error.code))",
            "check the disk, and the limits of this process (ulimit -a), then try again")
      }
  }

  /// - Returns: nil if SQLite has not kept the system's error.
  private init?(
    ioError error: SQLiteError, path: String, _ errno: Int32, on handle: OpaquePointer?
  ) {
    // With another file attached SQLite does not say which of the two failed.
    let sender = handle.flatMap { sqlite3_db_filename($0, "sender") }.map { String(cString: $0) }
    let path = sender.flatMap { $0.isEmpty ? nil : "\(path) or \($0)" } ?? path
    // A failed read leaves the errno of an earlier call, and the shared memory none.
    let code: Int32 =
      switch error.code {
      case keepsake_ioerr_nomem: ENOMEM
      case keepsake_ioerr_read: EIO
      case keepsake_ioerr_shmsize: Self.noRoom
      case _ where error.primaryCode == SQLITE_IOERR:
        // SQLite does not always keep why a write failed.
        errno == 0 && Self.noRoom == EFBIG ? EFBIG : errno
      default: 0
      }
    guard code != 0 else { return nil }
    self.init(system: code, path: path, cause: error)
  }

  /// Why a file cannot grow: a limit of this process, if it has one, or a full disk.
  private static var noRoom: Int32 {
    var limit = rlimit()
    let hasLimit = getrlimit(fileSizeLimit, &limit) == 0 && limit.rlim_cur < 1 << 62
    return hasLimit ? EFBIG : ENOSPC
  }

  #if canImport(Glibc)
    private static let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #else
    private static let fileSizeLimit = RLIMIT_FSIZE
  #endif
}

extension Connection {
  /// Runs `body`, and converts its errors while the connection still has their details.
  func explaining<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      guard error is SQLiteError || error is KeepsakeError else { throw error }
      let error = KeepsakeError(error, path: path, on: handle)
      if error.isRefusal, !error.isAboutRowSize { keepFullLog() }
      throw error
    }
  }

  /// Whether closing leaves the log as it is, also if this is the last connection.
  package func keepLog(_ keeps: Bool) { keepsake_keep_log(handle, keeps ? 1 : 0) }

  /// As `keepLog(true)`, so that what is in the log of a refused file can still be saved. An empty
  /// log is removed at closing: SQLite has made it.
  func keepFullLog() {
    var size: sqlite3_int64 = 0
    if case .success(let log) = Result(catching: logFile) {
      _ = log.pointee.pMethods.pointee.xFileSize?(log, &size)
    }
    // Closing removes the file with the log's name, which may be another log by now.
    let name = sqlite3_db_filename(handle, "main").map { String(cString: $0) + "-wal" } ?? ""
    let named = Result { () throws(KeepsakeError) in try FileStatus(of: name)?.size ?? 0 }
    if case .success(0) = named, size == 0 { return }
    keepLog(true)
  }
}

extension KeepsakeError {
  /// Whether the file must not be written.
  package var isRefusal: Bool {
    [.corrupt, .notKeepsake, .newerSchema, .foreignLog].contains(code)
  }

  /// The error for a row that exceeds a limit.
  package static func rowTooLarge(path: String, _ problem: String, cure: String) -> KeepsakeError {
    KeepsakeError(.corrupt, path: path, problem, cure: cure, cause: SQLiteError(SQLITE_TOOBIG))
  }

  /// Whether a row exceeds a limit. The pages of its file are sound.
  package var isAboutRowSize: Bool {
    (cause as? SQLiteError)?.primaryCode == SQLITE_TOOBIG
  }
}
