// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues

  extension PostgresTables {
    static let heldStatements = [held, hold, dropHeld, dropHeldOfOrigin, removeHeld]
    private static let held = Statement(
      "held",
      """
      SELECT tag, hlc, origin, kind, store, key, value FROM keepsake_held WHERE account = $1
      ORDER BY hlc, origin, store, key
      """)
    private static let hold = Statement(
      "hold",
      """
      INSERT INTO keepsake_held (account, store, key, tag, hlc, origin, kind, value)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (account, store, key, hlc, origin)
        DO UPDATE SET tag = excluded.tag, kind = excluded.kind, value = excluded.value
      """)
    private static let dropHeld = Statement(
      "drop_held",
      """
      DELETE FROM keepsake_held
      WHERE account = $1 AND store = $2 AND key = $3 AND hlc = $4 AND origin = $5
      """)
    private static let dropHeldOfOrigin = Statement(
      "drop_held_of_origin",
      "DELETE FROM keepsake_held WHERE account = $1 AND origin = $2 AND hlc > $3")
    static let removeHeld = Statement("remove_held", "DELETE FROM keepsake_held WHERE account = $1")

    func held() throws -> [Entry] {
      _ = try account
      if let heldKnown { return heldKnown }
      let result = try read(Self.held, Parameters(id))
      let entries = try (0..<result.count).map { try result.entry($0) }
      heldKnown = entries
      return entries
    }

    func due(upTo horizon: HybridTimestamp) throws -> [Entry] {
      try held().filter { $0.timestamp <= horizon }
    }

    private func place(_ entry: Entry) -> Parameters {
      var parameters = Parameters(id)
      parameters.append(entry.address.store.string)
      parameters.append(entry.address.key.string)
      return parameters
    }

    func hold(_ entries: [Entry]) throws {
      for entry in entries {
        var parameters = place(entry)
        parameters.append(entry.content.tag)
        parameters.append(entry.timestamp.rawValue)
        parameters.append(entry.origin.rawValue)
        parameters.append(entry.content.cell.kind)
        var bytes: [UInt8] = []
        entry.content.cell.write(to: &bytes)
        parameters.append(bytes)
        try write(Self.hold, parameters)
        heldKnown = nil
      }
    }

    func dropHeld(_ entries: [Entry]) throws {
      for entry in entries {
        var parameters = place(entry)
        parameters.append(entry.timestamp.rawValue)
        parameters.append(entry.origin.rawValue)
        try write(Self.dropHeld, parameters)
        heldKnown = nil
      }
    }

    func dropHeld(of origin: ReplicaID, after timestamp: HybridTimestamp) throws {
      _ = try account
      if let heldKnown, heldKnown.isEmpty { return }
      try write(
        Self.dropHeldOfOrigin, Parameters(id, origin.rawValue, timestamp.rawValue))
      heldKnown = nil
    }
  }
#endif
