// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Core {
  /// Attaches another device's file to this connection, read-only, as `sender`, while `body` runs.
  func withSender<Value>(
    _ sender: Core, _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    var address = sender.location.uri(sender.mode == .immutable ? .immutable : .readOnly)
    // Else SQLite would look for the file where it found the main database, perhaps in memory.
    if sender.file != nil { address += "&vfs=unix" }
    try access { connection in
      try connection.run("ATTACH DATABASE ?1 AS sender", [.text(address)])
      // A meeting jumps through both files, and writes one; a setting needs no such cache.
      // Kibibytes, negated.
      try connection.run("PRAGMA main.cache_size = -32768")
      try connection.run("PRAGMA sender.cache_size = -8192")
      // Pages that many transactions change are then written to the file only once.
      try connection.run("PRAGMA wal_autocheckpoint = 32768")
    }
    defer {
      // Fails only when the connection is broken, and then its next use says so.
      Result { () throws(KeepsakeError) in
        try access { connection in
          try connection.run("DETACH DATABASE sender")
          try connection.run("PRAGMA main.cache_size = -2000")
          try connection.run("PRAGMA wal_autocheckpoint = 1000")
        }
      }.discardFailure()
    }
    return try body()
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
