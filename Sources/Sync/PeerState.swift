// SPDX-License-Identifier: Apache-2.0
//
// What a device remembers of another, per store, and whether two memories fit together.
//
// A cursor says "I have read yours up to here", which is true only of the state that was read. A
// file may since have been copied, or replaced by a backup of itself. So each reading has a token,
// and each direction its own. The sender writes the token (`token`) in a transaction of its own,
// beside what the reader last read under (`theirRead`), and the reader reads no further than the
// sender's local sequence number at that transaction. It writes the token with its cursor
// (`readToken`).
//
// A file that knows a token therefore has everything that was read under it, whenever it was
// copied. A crash leaves the reader with a token that the sender still knows; a sender
// that is an older state does not know what was read of the newer one.

import KeepsakeDevice
import KeepsakeValues

struct PeerState: Equatable, Sendable {
  /// Their local sequence number up to which this device has read.
  var cursor: Int64 = 0
  /// This device's local sequence number up to which they have read, as far as this one knows.
  var acked: Int64 = 0
  /// Under which this device last read from them.
  var readToken: ExchangeToken?
  /// The last two under which they were let read; a second merge at the same time may still use the
  /// one before.
  var token: ExchangeToken?
  var prior: ExchangeToken?
  /// Under which they had last read when `token` was written.
  var theirRead: ExchangeToken?

  private func knows(_ other: ExchangeToken?) -> Bool {
    other == nil || other == token || other == prior || other == theirRead
  }

  /// The number of the last reading that this side, as the sender, knows of.
  var round: Int64 { max(token?.round ?? 0, theirRead?.round ?? 0) }

  /// Which of two devices does not have the state that the other one met.
  struct Doubt: OptionSet {
    let rawValue: Int
    static let sender = Doubt(rawValue: 1)
    static let reader = Doubt(rawValue: 2)
  }

  /// Whether the reader's cursor is one into this sender's state.
  ///
  /// - Parameters:
  ///   - reader: what the reader remembers of this sender.
  ///   - lseq: the sender's last local sequence number.
  func doubt(reader: PeerState, lseq: Int64) -> Doubt {
    if knows(reader.readToken) {
      // A cursor beyond the end was written by no reading of ours.
      return reader.cursor > lseq ? .sender : []
    }
    // Two lives of one file: the one that knows fewer readings is the older state. If neither is,
    // both have gone on, and neither may keep its name.
    let other = reader.readToken?.round ?? 0
    return other > round ? .sender : other < round ? .reader : [.sender, .reader]
  }
}

extension Connection {
  /// What this device, or the one attached as `schema`, remembers of `peer` in a store.
  func peerState(
    _ peer: ReplicaID, store: ByteText, in schema: String = "main"
  ) throws -> PeerState {
    try first(
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
    try run(
      """
      INSERT INTO peer (peer, store, cursor, acked, read_token, token, prior, their_read, last_met)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      ON CONFLICT (peer, store) DO UPDATE SET cursor = excluded.cursor, acked = excluded.acked,
        read_token = excluded.read_token, token = excluded.token, prior = excluded.prior,
        their_read = excluded.their_read, last_met = excluded.last_met, retired = 0
      """,
      [
        .integer(peer.rawValue), .text(store.string), .integer(state.cursor),
        .integer(state.acked), Cell(state.readToken), Cell(state.token), Cell(state.prior),
        Cell(state.theirRead), .integer(now),
      ])
  }
}

extension Row {
  fileprivate func token(_ column: Int32) -> ExchangeToken? {
    guard case .integer(let number) = cell(column) else { return nil }
    return ExchangeToken(rawValue: number)
  }
}

extension Cell {
  fileprivate init(_ token: ExchangeToken?) {
    self = token.map { .integer($0.rawValue) } ?? .null
  }
}
