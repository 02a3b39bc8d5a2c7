// SPDX-License-Identifier: Apache-2.0
//
// What the system said to SQLite. Its result codes alone do not tell a limit of the process from a
// permission, nor which of two files could not be read. The connection still knows `errno`.

import CSQLite
import Foundation
import KeepsakeFileSystem

/// The failure of the system behind an error of SQLite's.
struct SystemFault {
  /// An `errno`; never 0.
  let code: Int32
  /// The file of an attached database that could not be read; nil for the main one.
  let attached: String?

  /// - Parameter handle: the connection that failed; nil when it is closed.
  /// - Returns: nil when it was not the system that failed, or when that cannot be known.
  init?(_ error: SQLiteError, on handle: OpaquePointer?) {
    switch error.primaryCode {
    case SQLITE_NOMEM: self.init(ENOMEM)
    case SQLITE_CANTOPEN:
      let code = handle.map(sqlite3_system_errno) ?? 0
      self.init([EMFILE, ENFILE].contains(code) ? code : Self.descriptorShortage)
    case SQLITE_IOERR where error.code == keepsake_ioerr_nomem: self.init(ENOMEM)
    case SQLITE_IOERR: self.init(ioError: error, on: handle)
    // A write that failed in its middle.
    case SQLITE_FULL: self.init(Self.noRoom(handle))
    default: return nil
    }
  }

  private init?(_ code: Int32, attached: String? = nil) {
    guard code != 0 else { return nil }
    (self.code, self.attached) = (code, attached)
  }

  private init?(ioError error: SQLiteError, on handle: OpaquePointer?) {
    if let fault = Self(readErrorOf: handle) {
      self = fault
      return
    }
    let code = handle.map(sqlite3_system_errno) ?? 0
    // The shared memory beside the log could not be made as large as it has to be.
    let isNoRoom = error.code == keepsake_ioerr_shmsize && code != EFBIG
    // SQLite does not always keep why a write failed.
    let isUnknown = code == 0 && Self.isAtSizeLimit(handle)
    // A file that was closed at once, as one that could not be attached, has left another `errno`.
    let isRead = error.code == keepsake_ioerr_read
    self.init(isRead ? EIO : isNoRoom || isUnknown ? Self.noRoom(handle) : code)
  }

  /// Looks whether a file of the connection could not be read, the attached one first: a merge has
  /// read its own before.
  private init?(readErrorOf handle: OpaquePointer?) {
    guard let handle else { return nil }
    for database in ["sender", "main"] {
      let codes = [SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER].map {
        Self.lastError($0, database, handle)
      }
      guard let code = codes.first(where: { [EIO, ENXIO].contains($0) }) else { continue }
      let name = database == "main" ? nil : sqlite3_db_filename(handle, database)
      self.init(code, attached: name.map { String(cString: $0) })
      return
    }
    return nil
  }

  /// Whether a file of this connection could not be read.
  static func isReadError(_ handle: OpaquePointer?) -> Bool { Self(readErrorOf: handle) != nil }

  /// - Parameter which: of a database's files.
  private static func lastError(
    _ which: Int32, _ database: String, _ handle: OpaquePointer
  ) -> Int32 {
    var file: UnsafeMutablePointer<sqlite3_file>?
    var code: Int32 = 0
    guard sqlite3_file_control(handle, database, which, &file) == SQLITE_OK, let file,
      let control = file.pointee.pMethods?.pointee.xFileControl,
      control(file, SQLITE_FCNTL_LAST_ERRNO, &code) == SQLITE_OK
    else { return 0 }
    return code
  }

  private static func noRoom(_ handle: OpaquePointer?) -> Int32 {
    isAtSizeLimit(handle) ? EFBIG : ENOSPC
  }

  /// Whether one of the database's files is about as large as this process may make one.
  private static func isAtSizeLimit(_ handle: OpaquePointer?) -> Bool {
    var limit = rlimit()
    guard getrlimit(fileSizeLimit, &limit) == 0, limit.rlim_cur < 1 << 62, let handle,
      let name = sqlite3_db_filename(handle, "main")
    else { return false }
    let sizes = ["", "-wal", "-shm", "-journal"].map { suffix in
      var status = stat()
      return stat(String(cString: name) + suffix, &status) == 0 ? UInt64(status.st_size) : 0
    }
    // What SQLite writes at once is less.
    return (sizes.max() ?? 0) + (256 << 10) > limit.rlim_cur
  }

  #if canImport(Glibc)
    private static let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #else
    private static let fileSizeLimit = RLIMIT_FSIZE
  #endif

  /// Why the process can open nothing at all now; 0 when it can.
  private static var descriptorShortage: Int32 {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard descriptor < 0 else {
      close(descriptor)
      return 0
    }
    let code = errno
    return [EMFILE, ENFILE].contains(code) ? code : 0
  }
}

extension Connection {
  /// What `body` returns; its errors in our words, as long as the connection can say more of them.
  func explaining<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      guard error is SQLiteError || error is KeepsakeError else { throw error }
      let error = KeepsakeError(error, path: path, on: handle)
      if error.isRefusal { keepLog(true) }
      throw error
    }
  }

  /// Whether closing leaves the log as it is: a file that is refused stays as it was, for whoever
  /// wants to save what is in it.
  package func keepLog(_ keeps: Bool) { keepsake_keep_log(handle, keeps ? 1 : 0) }
}

extension KeepsakeError {
  /// Whether the file is not one to write to.
  package var isRefusal: Bool {
    [.corrupt, .notKeepsake, .newerSchema, .foreignLog].contains(code)
  }
}

extension KeepsakeError {
  /// Whether a row was larger than `Connector.maximumRow`.
  package static func isRowTooLarge(_ error: any Error) -> Bool {
    (error as? SQLiteError)?.primaryCode == SQLITE_TOOBIG
  }

  /// Whether a row was to be written without a value that it must have.
  package static func isMissingValue(_ error: any Error) -> Bool {
    (error as? SQLiteError)?.code == keepsake_constraint_notnull
  }
}
