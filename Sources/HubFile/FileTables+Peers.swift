// SPDX-License-Identifier: Apache-2.0
//
// What is remembered of devices.

import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeSync
import KeepsakeValues

extension FileTables {
  private static let peer = FrequentStatement(
    """
    SELECT cursor, acked, read_token, token, prior, their_read, last_met FROM peer
    WHERE account = ?1 AND device = ?2 AND store = ?3
    """)
  private static let savePeer = FrequentStatement(
    """
    INSERT INTO peer (account, device, store, cursor, acked, read_token, token, prior, their_read,
      last_met) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (account, device, store) DO UPDATE SET cursor = excluded.cursor,
      acked = excluded.acked, read_token = excluded.read_token, token = excluded.token,
      prior = excluded.prior, their_read = excluded.their_read, last_met = excluded.last_met
    """)
  private static let anyPeer = FrequentStatement("SELECT 1 FROM peer WHERE account = ?1 LIMIT 1")

  func peers(_ device: ReplicaID, _ stores: [ByteText]) throws -> [HubPeer] {
    try stores.map { store in
      var peer = HubPeer()
      try connection.run(
        Self.peer,
        bind: { row in
          try row.bind(number, at: 1)
          try row.bind(device.rawValue, at: 2)
          try row.bind(store.string, at: 3)
        }
      ) { row in
        peer.state = PeerState(
          cursor: row.integer(0), acked: row.integer(1), readToken: Self.token(row.cell(2)),
          token: Self.token(row.cell(3)), prior: Self.token(row.cell(4)),
          theirRead: Self.token(row.cell(5)))
        peer.lastMet = row.integer(6)
        return false
      }
      return peer
    }
  }

  private static func token(_ cell: Cell) -> ExchangeToken? {
    if case .integer(let number) = cell { ExchangeToken(rawValue: number) } else { nil }
  }

  func save(_ peers: [HubPeer], _ device: ReplicaID, _ stores: [ByteText]) throws {
    for (peer, store) in zip(peers, stores) {
      let (state, cell) = (peer.state, { Cell.integer(($0 as ExchangeToken).rawValue) })
      try connection.run(Self.savePeer) { row in
        try row.bind(number, at: 1)
        try row.bind(device.rawValue, at: 2)
        try row.bind(store.string, at: 3)
        try row.bind(state.cursor, at: 4)
        try row.bind(state.acked, at: 5)
        try row.bind(state.readToken.map(cell) ?? .null, at: 6)
        try row.bind(state.token.map(cell) ?? .null, at: 7)
        try row.bind(state.prior.map(cell) ?? .null, at: 8)
        try row.bind(state.theirRead.map(cell) ?? .null, at: 9)
        try row.bind(peer.lastMet, at: 10)
      }
    }
  }

  var hasPeers: Bool {
    get throws {
      var hasAny = false
      try connection.run(Self.anyPeer, bind: { try $0.bind(number, at: 1) }) { _ in
        hasAny = true
        return false
      }
      return hasAny
    }
  }

  func rewindPeers() throws {
    try connection.run("UPDATE peer SET cursor = 0 WHERE account = ?1", [.integer(number)])
  }

  func clearPeers() throws { try Self.removePeers(of: number, connection) }

  static func removePeers(of account: Int64, _ connection: Connection) throws {
    try connection.run("DELETE FROM peer WHERE account = ?1", [.integer(account)])
  }
}
