// SPDX-License-Identifier: Apache-2.0
//
// Files with many keys, each made once by another process, and copied for whoever changes it: no
// file is opened by this process beside SQLite, which would release SQLite's locks.

import CSQLite
import Foundation
import Keepsake
import Synchronization

/// Everything that a run writes; removed at its end.
enum Files {
  static let folder = NSTemporaryDirectory() + "keepsake-benchmark-\(getpid())"

  static func begin() throws {
    // Where Foundation keeps UserDefaults on Linux. It looks once, before this line is reached: so
    // the program begins again.
    let config = folder + "/config"
    if ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"] != config {
      setenv("XDG_CONFIG_HOME", config, 1)
      execv("/proc/self/exe", CommandLine.unsafeArgv)
      throw Failure("the program cannot begin again")
    }
    try FileManager.default.createDirectory(atPath: config, withIntermediateDirectories: true)
  }

  static func end() throws { try FileManager.default.removeItem(atPath: folder) }

  /// A path that nothing has yet.
  static func new(_ suffix: String = ".keepsake") -> String { "\(folder)/\(UUID())\(suffix)" }

  static func remove(_ path: String) throws {
    for suffix in ["", "-wal", "-shm", "-lock"]
    where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  /// A new copy of what nobody has open.
  static func copy(_ path: String) throws -> String {
    let copy = new()
    try Command.run(["/bin/cp", "-r", path, copy])
    return copy
  }
}

/// What a file of many keys is like.
struct Fixture: Hashable {
  let keys: Int
  var store = "defaults"
  /// 0 or 1: each has newer values for every other key.
  var side = 0

  static let key: @Sendable (Int) -> String = { number in
    let digits = String(number)
    return "key-" + String(repeating: "0", count: 7 - digits.count) + digits
  }

  /// Of thirty-two bytes.
  static func value(_ number: Int) -> String {
    let digits = String(number)
    return "a string of thirty-two bytes " + String(repeating: "0", count: max(0, 3 - digits.count))
      + digits.suffix(3)
  }

  private static let made = Mutex<[Fixture: String]>([:])

  /// The path of a file like this, only to be copied.
  func path() throws -> String {
    try Self.made.withLock { made in
      if let path = made[self] { return path }
      let path = Files.new()
      try Command.role("fixture", [path, "\(keys)", store, "\(side)"])
      made[self] = path
      return path
    }
  }

  func copy() throws -> String { try Files.copy(path()) }

  /// In a process of its own.
  static func make(_ path: String, _ keys: Int, _ store: String, _ side: Int) throws {
    _ = try Device(path: path)
    let raw = try RawDatabase(path)
    try raw.execute(
      """
      PRAGMA synchronous = OFF;
      WITH RECURSIVE n (i) AS (
        SELECT 0 WHERE \(keys) > 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(keys))
      INSERT INTO entry SELECT '\(store)', printf('key-%07d', i), 1,
        printf('a string of thirty-two bytes %d%02d', \(side), i % 100),
        (1700000000000 + 2 * ((i + \(side)) % 2)) << 16, (SELECT id FROM replica), i + 1
      FROM n;
      PRAGMA wal_checkpoint (TRUNCATE);
      """)
  }
}
