// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Core {
  /// Attaches another device's file to this connection, read-only, as `sender`, while `body` runs.
  func withSender<Value>(
    _ sender: Core, _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    let address = sender.location.uri(sender.mode == .immutable ? .immutable : .readOnly)
    do {
      try sender.storage.names?.check()
      try access { connection in
        // A merge with a hub may have left an empty staging.
        try connection.detachIdleStaging()
        try connection.run("ATTACH DATABASE ?1 AS sender", [.text(address)])
      }
    } catch {
      throw error.at(sender.location.path)
    }
    try reads(sender)
    defer {
      // Fails only when the connection is broken, and then its next use says so.
      Result { () throws(KeepsakeError) in
        try reads(nil)
        try access { connection in
          try connection.run("DETACH DATABASE sender")
          try connection.run("PRAGMA main.cache_size = -2000")
        }
      }.discardFailure()
    }
    do throws(KeepsakeError) {
      try access { connection in
        // An exchange jumps through both files, and writes one; a setting needs no such cache.
        // Kibibytes, negated.
        try connection.run("PRAGMA main.cache_size = -32768")
        try connection.run("PRAGMA sender.cache_size = -8192")
      }
      return try storage.withLongLog(body)
    } catch {
      throw blame(error, sender)
    }
  }

  /// The same error about the file that it is in: SQLite does not say which one of two it read.
  private func blame(_ error: KeepsakeError, _ sender: Core) -> KeepsakeError {
    if error.path == sender.location.realPath { return error.at(sender.location.path) }
    guard error.code == .corrupt, error.path == location.path else { return error }
    do throws(KeepsakeError) {
      try sender.storage.checkIntegrity()
      try sender.access { try $0.checkSizes() }
      return error
    } catch {
      // This file is whole, as far as is known.
      Result { () throws(KeepsakeError) in try access { $0.keepLog(false) } }.discardFailure()
      return error
    }
  }
}

extension Connection {
  /// Names the stores that a statement is about, and where each is to be read on.
  func want(_ stores: [ByteText], from cursors: [Int64]) throws {
    try run(
      "CREATE TEMP TABLE IF NOT EXISTS wanted (store TEXT PRIMARY KEY, cursor INTEGER NOT NULL)"
        + " STRICT, WITHOUT ROWID")
    try run("DELETE FROM wanted")
    for (store, cursor) in zip(stores, cursors) {
      try run(
        "INSERT INTO wanted (store, cursor) VALUES (?1, ?2)",
        [.text(store.string), .integer(cursor)])
    }
  }
}
