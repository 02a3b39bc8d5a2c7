// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// What a file remembers of its peers, by peer and store, within an access; every statement that
/// writes `peer`.
struct PeerTable {
  let connection: Connection

  // MARK: - One peer

  /// What this device, or the one attached as `schema`, remembers of a peer in a store.
  func state(
    of peer: ReplicaID, store: ByteText, in schema: String = "main"
  ) throws -> PeerState {
    try connection.first(
      """
      SELECT cursor, acked, read_token, token, prior, their_read FROM \(schema).peer
      WHERE peer = ?1 AND store = ?2
      """, [.integer(peer.rawValue), .text(store.string)]
    ) { row in
      PeerState(
        cursor: row.integer(0), acked: row.integer(1), readToken: row.token(2),
        token: row.token(3), prior: row.token(4), theirRead: row.token(5))
    } ?? PeerState()
  }

  func save(_ state: PeerState, of peer: ReplicaID, store: ByteText, at now: Int64) throws {
    try connection.run(
      """
      INSERT INTO peer (peer, store, cursor, acked, read_token, token, prior, their_read, last_met)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      ON CONFLICT (peer, store) DO UPDATE SET cursor = excluded.cursor, acked = excluded.acked,
        read_token = excluded.read_token, token = excluded.token, prior = excluded.prior,
        their_read = excluded.their_read, last_met = excluded.last_met, retired = 0
      """,
      [.integer(peer.rawValue), .text(store.string)] + state.cells + [.integer(now)])
  }

  /// Notes how far a peer has read this device.
  func acknowledge(_ cursor: Int64, of store: ByteText, by peer: ReplicaID) throws {
    try connection.run(
      "UPDATE peer SET acked = ?1 WHERE peer = ?2 AND store = ?3 AND acked < ?1",
      [.integer(cursor), .integer(peer.rawValue), .text(store.string)])
  }

  /// Forgets how far this device has read a peer.
  func rewind(_ peer: ReplicaID, store: ByteText) throws {
    try connection.run(
      "UPDATE peer SET cursor = 0 WHERE peer = ?1 AND store = ?2",
      [.integer(peer.rawValue), .text(store.string)])
  }

  /// No longer waits for a peer.
  func retire(_ peer: ReplicaID) throws {
    try connection.run("UPDATE peer SET retired = 1 WHERE peer = ?1", [.integer(peer.rawValue)])
  }

  /// Whether collections of deletions wait for a peer.
  func isAwaited(_ peer: ReplicaID) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM peer WHERE peer = ?1 AND retired = 0 LIMIT 1", [.integer(peer.rawValue)]
    ) { _ in true } ?? false
  }

  // MARK: - When a peer was met

  private static let dateIsDue =
    "(last_met > ?4 OR (peer = ?1 AND store = ?2 AND (last_met < ?3 OR retired = 1)))"

  private func date(_ peer: ReplicaID, _ store: ByteText, _ now: Int64) -> [Cell] {
    [
      .integer(peer.rawValue), .text(store.string), .integer(now - 86_400_000), .integer(now),
    ]
  }

  /// Whether the last date is more than a day old, or any is in the future.
  func isDateDue(_ peer: ReplicaID, store: ByteText, at now: Int64) throws -> Bool {
    try connection.first("SELECT 1 FROM peer WHERE \(Self.dateIsDue)", date(peer, store, now)) {
      _ in true
    } ?? false
  }

  /// Notes that a peer was met now. What a wrong clock has dated later, of whichever peer, was at
  /// the latest now.
  func noteMet(_ peer: ReplicaID, store: ByteText, at now: Int64) throws {
    try connection.run(
      "UPDATE peer SET last_met = ?4, retired = iif(peer = ?1, 0, retired) WHERE \(Self.dateIsDue)",
      date(peer, store, now))
  }

  /// Corrects dates that a wrong clock has set: they were at the latest now.
  func correctDates(at now: Int64) throws {
    try connection.run("UPDATE peer SET last_met = ?1 WHERE last_met > ?1", [.integer(now)])
  }

  // MARK: - All peers

  /// Forgets how far this device has read any peer.
  func rewindAll() throws { try connection.run("UPDATE peer SET cursor = 0") }

  /// Forgets what was exchanged with peers, not that they exist.
  func forgetExchanges() throws {
    try connection.run(
      """
      UPDATE peer SET cursor = 0, acked = 0, read_token = NULL, token = NULL, prior = NULL,
        their_read = NULL
      """)
  }

  func clear() throws { try connection.run("DELETE FROM peer") }
}

extension Connection {
  var peers: PeerTable { PeerTable(connection: self) }
}

extension Row {
  fileprivate func token(_ column: Int32) -> ExchangeToken? {
    guard case .integer(let number) = cell(column) else { return nil }
    return ExchangeToken(rawValue: number)
  }
}

extension PeerState {
  /// As the table has them, from `cursor` to `their_read`.
  var cells: [Cell] {
    [
      .integer(cursor), .integer(acked), Cell(readToken), Cell(token), Cell(prior), Cell(theirRead),
    ]
  }
}

extension Cell {
  fileprivate init(_ token: ExchangeToken?) {
    self = token.map { .integer($0.rawValue) } ?? .null
  }
}
