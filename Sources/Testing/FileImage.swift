// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a device's file and of its log, as the system has them at one moment: what `kill -9`
// leaves, what `cp -a` copies, what a restored virtual machine finds.
//
// They are read through SQLite's own descriptors: closing one of ours would drop SQLite's locks on
// the file (https://www.sqlite.org/howtocorrupt.html, section 2.2). Nobody else can write or empty
// the log meanwhile, because the file is locked for writing; pages that another process moves from
// the log into the file are still in the log too. What this process has written and not committed
// is in neither, or in the log without the mark of a commit, which is to say that it is gone.

import Foundation
import GRDBSQLite
import KeepsakeDevice

struct FileImage: Sendable {
  private let file: Data
  private let log: Data

  init(of device: Device) throws(KeepsakeError) {
    (file, log) = try device.core.write { connection in
      let file = try Self.bytes(connection.databaseFile(), device.path)
      return ((file, try Self.bytes(connection.logFile(), device.path)), [])
    }
  }

  /// Puts the bytes in place of whatever is there. Who has that open keeps it, and cannot write to
  /// it any more.
  ///
  /// The shared memory beside a log is made anew by whoever opens the file first, as after a crash.
  func write(to path: String) throws {
    for suffix in ["", "-wal", "-shm"] {
      let path = path + suffix
      guard FileManager.default.fileExists(atPath: path) else { continue }
      try FileManager.default.removeItem(atPath: path)
    }
    for (suffix, bytes) in [("-wal", log), ("", file)] {
      try bytes.write(to: URL(fileURLWithPath: path + suffix), options: .withoutOverwriting)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: path + suffix)
    }
  }

  private static func bytes(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ path: String
  ) throws -> Data {
    func check(_ code: Int32) throws(KeepsakeError) {
      guard code == SQLITE_OK else {
        throw KeepsakeError(
          .inputOutput, path: path, "its bytes cannot be read (SQLite's code \(code))",
          cure: "check the disk")
      }
    }
    let methods = file.pointee.pMethods.pointee
    var size: sqlite3_int64 = 0
    try check(methods.xFileSize(file, &size))
    var bytes = Data(count: Int(size))
    try bytes.withUnsafeMutableBytes { buffer in
      guard !buffer.isEmpty else { return }
      try check(methods.xRead(file, buffer.baseAddress, Int32(buffer.count), 0))
    }
    return bytes
  }
}
