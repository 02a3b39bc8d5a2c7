// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// What a party that has no file here gives to be read: the rows of one reading, and what a pull
/// asks about their sender. In memory, as tables of a schema `sender`, which stays attached while
/// it is small: once it is detached, SQLite prepares every statement of the connection again.
struct Staging {
  var sender = ReplicaID(rawValue: 0)
  /// The sender's last local sequence number.
  var lseq: Int64 = 0
  /// The one up to which it has forgotten deletions.
  var forgotten: Int64 = 0
  /// What it remembers of the reader.
  var peers: [(store: ByteText, state: PeerState)] = []
  var rows: [HubAnswer.Row] = []
  /// Whether there are more after the last of `rows`.
  var hasMore = false
  var seen: [HubRequest.Seen] = []

  private static let tables = [
    "replica", "entry", "peer", "seen", "superseded", "forgotten", "grave", "unsent",
  ]
  /// As the file's own, but for their keys: the only order in which so few are searched is that of
  /// their numbers.
  private static let schema =
    tables.map { "CREATE TABLE sender.\($0) AS SELECT * FROM main.\($0) LIMIT 0" }
    + ["CREATE UNIQUE INDEX sender.entry_lseq ON entry (lseq)"]

  fileprivate static func attach(_ connection: Connection) throws {
    if try connection.hasIdleStaging { return }
    // Fails where another file is attached.
    try connection.run("ATTACH DATABASE ':memory:' AS sender")
    do {
      for statement in schema { try connection.run(statement) }
    } catch {
      try connection.run("DETACH DATABASE sender")
      throw error
    }
  }

  /// Empties it; one of many or large rows would keep their memory, and goes.
  fileprivate func release(_ connection: Connection) throws {
    guard rows.count <= 64, rows.bytes <= 1 << 16 else {
      return try connection.run("DETACH DATABASE sender")
    }
    do {
      for table in Self.tables { try connection.run("DELETE FROM sender.\(table)") }
    } catch {
      // A staging with rows counts as in use, so one that cannot be emptied is detached.
      try connection.run("DETACH DATABASE sender")
    }
  }

  fileprivate func fill(_ connection: Connection, for reader: ReplicaID) throws {
    try connection.run(
      "INSERT INTO sender.replica (only, id, hlc, lseq, gc_lseq, min_writer)"
        + " VALUES (1, ?1, 0, ?2, 0, 0)", [.integer(sender.rawValue), .integer(lseq)])
    if forgotten > 0 {
      try connection.run("INSERT INTO sender.forgotten VALUES (1, ?1)", [.integer(forgotten)])
    }
    for (store, state) in peers {
      try connection.run(
        "INSERT INTO sender.peer (peer, store, cursor, acked, read_token, token, prior, their_read)"
          + " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        [.integer(reader.rawValue), .text(store.string)] + state.cells)
    }
    for row in rows { try insert(row.entry, row.seq, connection) }
    if hasMore, let last = rows.last {
      // It is not read, and tells that the reading does not end here.
      try insert(last.entry, last.seq + 1, connection)
    }
    for seen in seen {
      try connection.run(
        "INSERT INTO sender.seen (store, origin, hlc) VALUES (?1, ?2, ?3)",
        [
          .text(seen.store.string), .integer(seen.origin.rawValue),
          .integer(seen.timestamp.rawValue),
        ])
    }
  }

  private func insert(_ entry: Entry, _ seq: Int64, _ connection: Connection) throws {
    try connection.run(
      "INSERT INTO sender.entry (store, key, tag, value, hlc, origin, lseq)"
        + " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
      [
        .text(entry.address.store.string), .text(entry.address.key.string),
        .integer(entry.content.tag), entry.content.cell, .integer(entry.timestamp.rawValue),
        .integer(entry.origin.rawValue), .integer(seq),
      ])
  }
}

extension Core {
  /// Makes a staging the schema `sender` of this connection for `body`.
  func withStaged(
    _ staging: Staging, for reader: ReplicaID, _ body: () throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    try access { try Staging.attach($0) }
    defer {
      // Fails only when the connection is broken, and then its next use says so.
      Result { () throws(KeepsakeError) in
        try access { try staging.release($0) }
      }.discardFailure()
    }
    try access { connection in
      try connection.transaction(.deferred) { try staging.fill($0, for: reader) }
    }
    try body()
  }
}

extension Connection {
  /// Whether an empty staging is attached: no merge uses it.
  fileprivate var hasIdleStaging: Bool {
    get throws {
      let isAttached =
        try first("SELECT 1 FROM pragma_database_list WHERE name = 'sender'") { _ in true } ?? false
      return try isAttached && first("SELECT 1 FROM sender.replica") { _ in true } == nil
    }
  }

  /// Makes room for a file that is to be the schema `sender`.
  func detachIdleStaging() throws {
    if try hasIdleStaging { try run("DETACH DATABASE sender") }
  }
}
