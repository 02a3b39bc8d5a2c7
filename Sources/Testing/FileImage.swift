// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a device's file and of its write-ahead log at one moment, as `kill -9` leaves them,
// `cp -a` copies them, or a restored virtual machine finds them.
//
// They are read through SQLite's own descriptors: closing another one would drop SQLite's locks on
// the file (https://www.sqlite.org/howtocorrupt.html, section 2.2). The write lock keeps other
// connections from writing or truncating the log; pages that a checkpoint copies into the file stay
// in the log too. Uncommitted writes of this process are in neither, or in the log without a commit
// mark, so the image does not have them.

import CSQLite
import Foundation
import KeepsakeDevice

struct FileImage: Sendable {
  private let file: Data
  private let log: Data

  init(of device: Device) throws(KeepsakeError) {
    (file, log) = try device.tables.write { connection in
      let file = try Self.bytes(connection.databaseFile(), path: device.path)
      return ((file, try Self.bytes(connection.logFile(), path: device.path)), [])
    }
  }

  /// Replaces the files at a path. Open handles keep the old files, and can no longer write to
  /// them.
  ///
  /// The next open creates the log's shared memory again, as after a crash.
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
    _ file: UnsafeMutablePointer<sqlite3_file>, path: String
  ) throws -> Data {
    func check(_ code: Int32) throws(KeepsakeError) {
      guard code == SQLITE_OK else {
        throw KeepsakeError(
          .inputOutput, path: path, "the file cannot be read (SQLite error \(code))",
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
