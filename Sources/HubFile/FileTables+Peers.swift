// SPDX-License-Identifier: Apache-2.0
//
// What is remembered of devices.

import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeSync
import KeepsakeValues

extension FileTables {
  private static let peerColumns =
    "cursor, acked, read_token, token, prior, their_read, last_met, retired"
  private static let peer = FrequentStatement(
    """
    SELECT \(peerColumns) FROM peer WHERE account = ?1 AND device = ?2 AND store = ?3
    """)
  private static let everyPeer = FrequentStatement(
    "SELECT \(peerColumns), device, store FROM peer WHERE account = ?1")
  private static let savePeer = FrequentStatement(
    """
    INSERT INTO peer (account, device, store, \(peerColumns))
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
    ON CONFLICT (account, device, store) DO UPDATE SET cursor = excluded.cursor,
      acked = excluded.acked, read_token = excluded.read_token, token = excluded.token,
      prior = excluded.prior, their_read = excluded.their_read, last_met = excluded.last_met,
      retired = excluded.retired
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
        peer = Self.peer(row)
        return false
      }
      return peer
    }
  }

  func allPeers() throws -> [ReplicaID: [ByteText: HubPeer]] {
    var all: [ReplicaID: [ByteText: HubPeer]] = [:]
    try connection.run(Self.everyPeer, bind: { try $0.bind(number, at: 1) }) { row in
      all[ReplicaID(rawValue: row.integer(8)), default: [:]][ByteText(row.text(9))] = Self.peer(row)
      return true
    }
    return all
  }

  private static func peer(_ row: Row) -> HubPeer {
    var peer = HubPeer()
    peer.state = PeerState(
      cursor: row.integer(0), acked: row.integer(1), readToken: token(row.cell(2)),
      token: token(row.cell(3)), prior: token(row.cell(4)), theirRead: token(row.cell(5)))
    (peer.lastMet, peer.isRetired) = (row.integer(6), row.integer(7) != 0)
    return peer
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
        try row.bind(peer.isRetired ? 1 : 0, at: 11)
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
