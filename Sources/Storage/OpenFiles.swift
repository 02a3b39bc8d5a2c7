// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Synchronization

/// The files that this process has open.
package enum OpenFiles {
  private struct Users {
    /// Entered by the thread that opens or closes the file.
    let turnstile = Turnstile()
    var names: [NameCheck?] = []
  }

  private static let all = Mutex<[FileID: Users]>([:])

  static func add(_ file: FileID, _ names: NameCheck? = nil) {
    all.withLock { $0[file, default: Users()].names.append(names) }
  }

  /// Runs `body` while no other thread opens or closes a file that this process has open. SQLite
  /// shares the index among a process's connections: a thread that opens the file while the log
  /// loses its name would use that index with another log.
  ///
  /// - Parameter limit: how long to wait; nil for as long as it takes.
  /// - Returns: nil when that was too short.
  static func alone<Value, Failure>(
    with file: FileID, waiting limit: Duration?, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    let turnstile = all.withLock { $0[file]?.turnstile }
    guard let isOutermost = turnstile.map({ $0.enter(waiting: limit) }) ?? false else { return nil }
    defer { if isOutermost { turnstile?.leave() } }
    return try body()
  }

  /// When it is closed.
  static func remove(_ file: FileID, _ names: NameCheck? = nil) {
    all.withLock { all in
      if let index = all[file]?.names.firstIndex(where: { $0 === names }) {
        all[file]?.names.remove(at: index)
      }
      if all[file]?.names.isEmpty == true { all[file] = nil }
    }
  }

  /// Throws if a connection of this process has a log that was removed: SQLite would use that one's
  /// index with another log.
  package static func checkNames(_ file: FileID) throws(KeepsakeError) {
    for names in all.withLock({ $0[file]?.names ?? [] }) { try names?.check() }
  }

  static func has(_ file: FileID) -> Bool { all.withLock { $0[file] != nil } }

  /// As `alone`; an opening waits for a closing of the same file.
  ///
  /// - Throws: what `body` throws, or `KeepsakeError` with `locked`.
  package static func opening<Value>(
    _ file: FileID, _ path: String, waiting limit: Duration,
    _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    guard let value = try alone(with: file, waiting: limit, body) else {
      throw KeepsakeError(
        .locked, path: path, "another thread of this process is closing it", cure: "try again")
    }
    return value
  }
}
