// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

// What a pull asks of the attached file.
extension Pull {
  /// Throws unless the attached file is still the one that was met and has collected nothing since.
  func checkSender(_ connection: Connection, _ plan: PullPlan) throws {
    let id = try connection.first("SELECT id FROM sender.replica") { $0.integer(0) }
    var isSame = id == senderID.rawValue
    if isSame, let token = offer?.token {
      let known = try connection.first(
        """
        SELECT count(*) FROM wanted AS w CROSS JOIN sender.peer AS p
          ON p.peer = (SELECT id FROM main.replica) AND p.store = w.store AND p.token = ?1
        """, [.integer(token.rawValue)]
      ) { Int($0.integer(0)) }
      isSame = known == stores.count
    }
    guard isSame, try Graves.last(connection) == plan.collected else {
      throw MergeRetry.interrupted(sender.name)
    }
  }

  /// Throws when the receiver has read the sender since the offer was made: its cursor would go
  /// back to another reading's.
  func checkReceiver(_ connection: Connection) throws {
    guard let remembered = offer?.remembered else { return }
    let known = try stores.map { try connection.peers.state(of: senderID, store: $0).readToken }
    guard known == remembered else { throw MergeRetry.interrupted(sender.name) }
  }

  /// Marks losers that whoever replaced them need not have seen, though a version vector says so: a
  /// hub has passed over entries that it does not take, and tells on that it has seen later writes
  /// of the same device. Who has read such an entry from its file has seen it; a device that has
  /// read it elsewhere is not told apart from one that has not: then the conflict is none.
  func markUnknown(_ connection: Connection) throws {
    var places: [Int64] = []
    let isHub = sender.isHub
    // Where the sender has read first, it has found them.
    if try isHub || !needsReader && connection.unsent.hasAny(in: "main") {
      try connection.run(
        """
        SELECT i.seq, (i.hlc, i.origin) = (i.old_hlc, i.old_origin),
          EXISTS (SELECT 1 FROM main.unsent WHERE unsent.lseq = old.lseq AND iif(?1 IS NULL,
            NOT EXISTS (SELECT 1 FROM sender.peer AS p
              WHERE p.peer = (SELECT id FROM main.replica) AND p.store = old.store
                AND p.cursor >= old.lseq),
            unsent.hub = ?1))
        FROM incoming AS i
        JOIN main.entry AS old ON old.store = i.store AND old.key = i.key
        WHERE i.rank <> 0 AND \(Incoming.wins)
        """, [isHub ? .integer(senderID.rawValue) : .null]
      ) { row in
        // Of what two copies write at one moment a hub keeps one.
        let isTie = isHub && row.integer(1) == 1
        if isTie || row.integer(2) == 1 { places.append(row.integer(0)) }
        return true
      }
    }
    if !isHub, !needsReader, try connection.unsent.hasAny(in: "sender") {
      // A sender that is only read comes with the same each time: it is logged once.
      places += try connection.all(
        """
        SELECT i.seq FROM incoming AS i
        JOIN sender.entry AS e ON e.store = i.store AND e.key = i.key
        JOIN sender.unsent ON unsent.lseq = e.lseq
        WHERE i.rank <> 0 AND (i.hlc, i.origin) < (i.old_hlc, i.old_origin)
          AND NOT EXISTS (SELECT 1 FROM main.peer AS p
            WHERE p.peer = (SELECT id FROM sender.replica) AND p.store = i.store
              AND p.cursor >= e.lseq)
          AND NOT EXISTS (SELECT 1 FROM main.conflict AS c
            WHERE c.loser_hlc = i.hlc AND c.loser_origin = i.origin AND c.store = i.store
              AND c.key = i.key)
        """
      ) { $0.integer(0) }
    }
    for place in places {
      try connection.run("UPDATE incoming SET rank = 2 WHERE seq = ?1", [.integer(place)])
    }
  }

  /// Whether a device has entries of the wanted stores after a local sequence number.
  static func hasMore(
    _ connection: Connection, in schema: String, after lseq: Int64
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM \(schema).entry INDEXED BY entry_lseq
      WHERE lseq > ?1 AND store IN (SELECT store FROM wanted) LIMIT 1
      """, [.integer(lseq)]
    ) { _ in true } ?? false
  }

  func lastArrival(_ connection: Connection) throws -> Int64 {
    try connection.first(
      "SELECT max(lseq, ifnull((SELECT max(lseq) FROM sender.entry), 0)) FROM sender.replica"
    ) { $0.integer(0) } ?? 0
  }
}
