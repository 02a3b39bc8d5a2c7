// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues

  /// How many rows wait, and when the first one is due.
  struct HeldOutline {
    let count: Int
    /// Nil when none waits.
    let first: HybridTimestamp?

    /// From two columns.
    init(_ result: PostgresResult, _ column: Int32) {
      count = Int(result.number(0, column))
      first = result.optional(0, column + 1).map { HybridTimestamp(rawValue: $0) }
    }
  }

  extension PostgresTables {
    static let heldStatements = [
      heldOutline, due, firstHeld, hold, dropHeld, removeHeld,
    ]
    private static let heldOutline = Statement(
      "held_outline", "SELECT count(*), min(hlc) FROM keepsake_held WHERE account = $1")
    private static let due = Statement(
      "due",
      """
      SELECT tag, hlc, origin, kind, store, key, value, device, seq FROM keepsake_held
      WHERE account = $1 AND hlc <= $2 ORDER BY hlc, origin, store, key
      """)
    private static let firstHeld = Statement(
      "first_held",
      """
      SELECT store, origin, min(hlc) FROM keepsake_held
      WHERE account = $1 AND store = ANY ($2::bytea[]) GROUP BY store, origin
      """)
    private static let hold = Statement(
      "hold",
      """
      INSERT INTO keepsake_held (account, store, key, tag, hlc, origin, kind, value, device, seq)
      SELECT $1, * FROM unnest($2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::bigint[], $8::bytea[], $9::bigint[], $10::bigint[])
      ON CONFLICT (account, store, key, hlc, origin) DO UPDATE SET tag = excluded.tag,
        kind = excluded.kind, value = excluded.value, device = excluded.device, seq = excluded.seq
      """)
    /// One look-up for each, as in `rowsAt`.
    private static let dropHeld = Statement(
      "drop_held",
      """
      DELETE FROM keepsake_held WHERE ctid = ANY (ARRAY(
        SELECT h.place
        FROM unnest($2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[])
          AS d (store, key, hlc, origin)
        CROSS JOIN LATERAL (
          SELECT h.ctid AS place FROM keepsake_held AS h
          WHERE h.account = $1 AND h.store = d.store AND h.key = d.key AND h.hlc = d.hlc
            AND h.origin = d.origin LIMIT 1
        ) AS h))
      """)
    static let removeHeld = Statement("remove_held", "DELETE FROM keepsake_held WHERE account = $1")

    private var outline: HeldOutline {
      get throws {
        _ = try account
        if let heldKnown { return heldKnown }
        let outline = HeldOutline(try read(Self.heldOutline, Parameters(id)), 0)
        heldKnown = outline
        return outline
      }
    }

    var heldCount: Int { get throws { try outline.count } }

    func due(upTo horizon: HybridTimestamp) throws -> [HeldRow] {
      guard let first = try outline.first, first <= horizon else { return [] }
      let result = try read(Self.due, Parameters(id, horizon.rawValue))
      return try (0..<result.count).map { row in
        HeldRow(
          try result.entry(row), by: ReplicaID(rawValue: result.number(row, 7)),
          after: result.number(row, 8))
      }
    }

    func firstHeld(of stores: [ByteText]) throws -> [HubRequest.Seen] {
      guard try heldCount > 0 else { return [] }
      return seen(try read(Self.firstHeld, seenParameters(stores)))
    }

    func hold(_ rows: [HeldRow]) throws {
      guard !rows.isEmpty else { return }
      // Of two copies that wrote at one moment the one that comes last has been decided.
      let unique = Dictionary(rows.map { (HeldPlace($0.entry), $0) }) { $1 }.values
      var parameters = addressParameters(unique.map(\.entry.address))
      parameters.append(numbers: unique.map(\.entry.content.tag))
      parameters.append(numbers: unique.map(\.entry.timestamp.rawValue))
      parameters.append(numbers: unique.map(\.entry.origin.rawValue))
      parameters.append(numbers: unique.map(\.entry.content.cell.kind))
      parameters.append(values: unique.map(\.entry.content.cell))
      parameters.append(numbers: unique.map(\.device.rawValue))
      parameters.append(numbers: unique.map(\.seq))
      try write(Self.hold, parameters)
      heldKnown = nil
    }

    func dropHeld(_ entries: [Entry]) throws {
      guard !entries.isEmpty else { return }
      var parameters = addressParameters(entries.map(\.address))
      parameters.append(numbers: entries.map(\.timestamp.rawValue))
      parameters.append(numbers: entries.map(\.origin.rawValue))
      try write(Self.dropHeld, parameters)
      heldKnown = nil
    }
  }

  /// What distinguishes a row that waits from others.
  private struct HeldPlace: Hashable {
    let address: Address
    let timestamp: HybridTimestamp
    let origin: ReplicaID

    init(_ entry: Entry) {
      (address, timestamp, origin) = (entry.address, entry.timestamp, entry.origin)
    }
  }
#endif
