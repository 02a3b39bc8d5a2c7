// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues

  extension PostgresTables {
    static let peerStatements = [peers, allPeers, savePeers, rewindPeers, removePeers]
    private static let peerColumns =
      "store, cursor, acked, read_token, token, prior, their_read, last_met, retired"
    static let peers = Statement(
      "peers", "SELECT \(peerColumns) FROM keepsake_peer WHERE account = $1 AND device = $2")
    private static let allPeers = Statement(
      "all_peers", "SELECT \(peerColumns), device FROM keepsake_peer WHERE account = $1")
    private static let savePeers = Statement(
      "save_peers",
      """
      INSERT INTO keepsake_peer (account, device, \(peerColumns))
      SELECT $1, $2, * FROM unnest($3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
      ON CONFLICT (account, device, store) DO UPDATE SET cursor = excluded.cursor,
        acked = excluded.acked, read_token = excluded.read_token, token = excluded.token,
        prior = excluded.prior, their_read = excluded.their_read, last_met = excluded.last_met,
        retired = excluded.retired
      """)
    private static let rewindPeers = Statement(
      "rewind_peers", "UPDATE keepsake_peer SET cursor = 0 WHERE account = $1")
    static let removePeers = Statement(
      "remove_peers", "DELETE FROM keepsake_peer WHERE account = $1")

    func note(peers result: PostgresResult, of device: ReplicaID) {
      peersKnown[device] = (0..<result.count).reduce(into: [:]) { peers, row in
        peers[ByteText(result.text(row, 0))] = Self.peer(result, row)
      }
    }

    private static func peer(_ result: PostgresResult, _ row: Int) -> HubPeer {
      func token(_ column: Int32) -> ExchangeToken? {
        result.optional(row, column).map(ExchangeToken.init)
      }
      var peer = HubPeer()
      (peer.state.cursor, peer.state.acked) = (result.number(row, 1), result.number(row, 2))
      (peer.state.readToken, peer.state.token) = (token(3), token(4))
      (peer.state.prior, peer.state.theirRead) = (token(5), token(6))
      (peer.lastMet, peer.isRetired) = (result.number(row, 7), result.number(row, 8) != 0)
      return peer
    }

    func allPeers() throws -> [ReplicaID: [ByteText: HubPeer]] {
      let result = try read(Self.allPeers, Parameters(id))
      return (0..<result.count).reduce(into: [:]) { peers, row in
        let device = ReplicaID(rawValue: result.number(row, 9))
        peers[device, default: [:]][ByteText(result.text(row, 0))] = Self.peer(result, row)
      }
    }

    func peers(_ device: ReplicaID, _ stores: [ByteText]) throws -> [HubPeer] {
      _ = try account
      if peersKnown[device] == nil {
        note(peers: try read(Self.peers, Parameters(id, device.rawValue)), of: device)
      }
      return stores.map { peersKnown[device]?[$0] ?? HubPeer() }
    }

    func save(_ peers: [HubPeer], _ device: ReplicaID, _ stores: [ByteText]) throws {
      // Of a store that is named twice the last one counts.
      let new = Dictionary(Array(zip(stores, peers))) { $1 }
      // All of the device's are known from here on, so that those beside these are not forgotten.
      _ = try self.peers(device, [])
      let changed = new.filter { peersKnown[device]?[$0.key] != $0.value }
      guard !changed.isEmpty else { return }
      for (store, peer) in changed { peersKnown[device]?[store] = peer }
      hasPeersKnown = true
      var parameters = Parameters(id, device.rawValue)
      parameters.append(texts: changed.map(\.key))
      parameters.append(numbers: changed.map(\.value.state.cursor))
      parameters.append(numbers: changed.map(\.value.state.acked))
      for token in [\PeerState.readToken, \.token, \.prior, \.theirRead] {
        parameters.append(optionals: changed.map { $0.value.state[keyPath: token]?.rawValue })
      }
      parameters.append(numbers: changed.map(\.value.lastMet))
      parameters.append(numbers: changed.map { $0.value.isRetired ? 1 : 0 })
      try write(Self.savePeers, parameters)
    }

    var hasPeers: Bool {
      get throws {
        _ = try account
        return hasPeersKnown
      }
    }

    func rewindPeers() throws {
      try write(Self.rewindPeers, Parameters(id))
      peersKnown = [:]
    }

    func clearPeers() throws {
      try write(Self.removePeers, Parameters(id))
      (peersKnown, hasPeersKnown) = ([:], false)
    }

    // MARK: - What a request will read

    func prefetch(_ request: HubRequest) throws {
      var sent = [Sent(Self.peers, Parameters(id, request.device.rawValue))]
      var notes: [(PostgresResult) throws -> Void] = [
        { self.note(peers: $0, of: request.device) }
      ]
      func page(
        _ cursors: [Int64], _ after: Int64, _ through: Int64, _ echo: EchoRange,
        _ limit: HubRequest.PageLimit
      ) {
        let cursors = Dictionary(Array(zip(request.stores, cursors))) { $1 }
        // As the rules bound it.
        let most = HubRequest.PageLimit()
        let limit = HubRequest.PageLimit(
          rows: min(max(limit.rows, 1), most.rows), bytes: min(max(limit.bytes, 1), most.bytes))
        let key = PageKey(cursors, after, through, echo, limit)
        guard !key.spans.isEmpty else { return }
        sent.append(Sent(Self.page, pageParameters(key)))
        notes.append { self.pagesKnown[key] = try self.pageRows($0) }
      }
      func seen() {
        let stores = request.stores
        sent.append(Sent(Self.seen, seenParameters(stores)))
        notes.append { self.note(seen: $0, of: stores) }
      }
      if let recalled = request.recalled {
        page(recalled.peers.map(\.cursor), 0, .max, EchoRange(), HubRequest.PageLimit(rows: 1))
      }
      for step in request.steps {
        switch step {
        case .push(let push):
          let addresses = push.rows.map(\.address)
          sent.append(Sent(Self.rowsAt, addressParameters(addresses)))
          notes.append { try self.note($0, at: addresses) }
          page(push.read, 0, .max, push.own, HubRequest.PageLimit(rows: 1))
          if push.seen != nil { seen() }
        case .offer(let offer):
          page(offer.memory.map(\.cursor), 0, .max, offer.echo, offer.page)
          seen()
        default: break
        }
      }
      for (result, note) in zip(try open(sent), notes) { try note(result) }
    }
  }
#endif
