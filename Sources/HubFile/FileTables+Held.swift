// SPDX-License-Identifier: Apache-2.0
//
// Rows that wait for their time.

import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeSync
import KeepsakeValues

extension FileTables {
  private static let hold = FrequentStatement(
    """
    INSERT INTO held (account, \(columns), device, seq) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT (account, store, key, hlc, origin) DO UPDATE SET tag = excluded.tag,
      value = excluded.value, device = excluded.device, seq = excluded.seq
    """)
  private static let due = FrequentStatement(
    """
    SELECT \(columns), device, seq FROM held WHERE account = ?1 AND hlc <= ?2
    ORDER BY hlc, origin, store, key
    """)
  private static let drop = FrequentStatement(
    """
    DELETE FROM held WHERE account = ?1 AND store = ?2 AND key = ?3 AND hlc = ?4 AND origin = ?5
    """)
  private static let count = FrequentStatement("SELECT count(*) FROM held WHERE account = ?1")
  private static let firstOfEach = FrequentStatement(
    "SELECT origin, min(hlc) FROM held WHERE account = ?1 AND store = ?2 GROUP BY origin")

  /// Of two copies that wrote at one moment the one that comes last has been decided.
  func hold(_ rows: [HeldRow]) throws {
    for row in rows {
      try connection.run(Self.hold) { bindings in
        try bind(row.entry, to: bindings)
        try bindings.bind(row.device.rawValue, at: 8)
        try bindings.bind(row.seq, at: 9)
      }
    }
  }

  func due(upTo horizon: HybridTimestamp) throws -> [HeldRow] {
    var rows: [HeldRow] = []
    try connection.run(
      Self.due,
      bind: { row in
        try row.bind(number, at: 1)
        try row.bind(horizon.rawValue, at: 2)
      }
    ) { row in
      rows.append(
        HeldRow(
          Self.entry(row), by: ReplicaID(rawValue: row.integer(6)), after: row.integer(7)))
      return true
    }
    return rows
  }

  func dropHeld(_ entries: [Entry]) throws {
    for entry in entries {
      try connection.run(Self.drop) { row in
        try row.bind(number, at: 1)
        try row.bind(entry.address.store.string, at: 2)
        try row.bind(entry.address.key.string, at: 3)
        try row.bind(entry.timestamp.rawValue, at: 4)
        try row.bind(entry.origin.rawValue, at: 5)
      }
    }
  }

  var heldCount: Int {
    get throws {
      var count = 0
      try connection.run(Self.count, bind: { try $0.bind(number, at: 1) }) { row in
        count = Int(row.integer(0))
        return false
      }
      return count
    }
  }

  func firstHeld(of stores: [ByteText]) throws -> [HubRequest.Seen] {
    try timestamps(Self.firstOfEach, of: stores)
  }

  static func removeHeld(of account: Int64, _ connection: Connection) throws {
    try connection.run("DELETE FROM held WHERE account = ?1", [.integer(account)])
  }
}
