// SPDX-License-Identifier: Apache-2.0
//
// What a device remembers of another, per store, and whether two memories fit together.
//
// A cursor says "I have read yours up to here", which is true only of the state that was read. A
// file may since have been copied, or replaced by a backup of itself. So every meeting has a token.
// It is written on both sides before anything is read (`token`), beside what the other last read
// under (`theirRead`), and again with the cursor in the transaction that reads (`readToken`). A
// crash leaves the other side with a read token that this one still knows; a copy or a rollback
// leaves one that it does not.

import KeepsakeDevice
import KeepsakeValues

struct PeerState: Equatable, Sendable {
  /// Their arrival number up to which this device has read.
  var cursor: Int64 = 0
  /// This device's arrival number up to which they have read.
  var acked: Int64 = 0
  var readToken: MeetingToken?
  var token: MeetingToken?
  var theirRead: MeetingToken?

  /// The number of the last meeting that this side knows of.
  var round: Int64 {
    max(token?.round ?? 0, readToken?.round ?? 0, theirRead?.round ?? 0)
  }

  func knows(_ other: MeetingToken?) -> Bool {
    other == nil || other == token || other == theirRead
  }

  /// Which of two devices does not have the state that the other one met.
  struct Doubt: OptionSet {
    let rawValue: Int
    static let mine = Doubt(rawValue: 1)
    static let theirs = Doubt(rawValue: 2)
  }

  /// - Parameters:
  ///   - theirs: what the other device remembers of this one.
  ///   - lseq, theirLseq: the last arrival numbers of both.
  func doubt(_ theirs: PeerState, lseq: Int64, theirLseq: Int64) -> Doubt {
    var doubt: Doubt = []
    // They have read more of me than there is; or I of them.
    if theirs.cursor > lseq { doubt.insert(.mine) }
    if cursor > theirLseq { doubt.insert(.theirs) }
    if !knows(theirs.readToken) || !theirs.knows(readToken) {
      // Two lives of one file: the one that knows fewer meetings is the older state. If neither is,
      // both have gone on, and neither may keep its name.
      if round <= theirs.round { doubt.insert(.mine) }
      if theirs.round <= round { doubt.insert(.theirs) }
    }
    return doubt
  }
}

extension Connection {
  /// What this device remembers of `peer` in a store.
  func peerState(_ peer: ReplicaID, store: String) throws -> PeerState {
    try first(
      """
      SELECT cursor, acked, read_token, token, their_read FROM peer WHERE peer = ?1 AND store = ?2
      """, [.integer(peer.rawValue), .text(store)]
    ) { row in
      PeerState(
        cursor: row.integer(0), acked: row.integer(1), readToken: row.token(2),
        token: row.token(3), theirRead: row.token(4))
    } ?? PeerState()
  }

  func save(_ state: PeerState, of peer: ReplicaID, store: String, at now: Int64) throws {
    try run(
      """
      INSERT INTO peer (peer, store, cursor, acked, read_token, token, their_read, last_met)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      ON CONFLICT (peer, store) DO UPDATE SET cursor = excluded.cursor, acked = excluded.acked,
        read_token = excluded.read_token, token = excluded.token,
        their_read = excluded.their_read, last_met = excluded.last_met, retired = 0
      """,
      [
        .integer(peer.rawValue), .text(store), .integer(state.cursor), .integer(state.acked),
        Cell(state.readToken), Cell(state.token), Cell(state.theirRead), .integer(now),
      ])
  }
}

extension Row {
  fileprivate func token(_ column: Int32) -> MeetingToken? {
    guard case .integer(let number) = cell(column) else { return nil }
    return MeetingToken(rawValue: number)
  }
}

extension Cell {
  fileprivate init(_ token: MeetingToken?) {
    self = token.map { .integer($0.rawValue) } ?? .null
  }
}
