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
    INSERT INTO held (account, \(columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (account, store, key, hlc, origin)
      DO UPDATE SET tag = excluded.tag, value = excluded.value
    """)
  private static let due = FrequentStatement(
    """
    SELECT \(columns) FROM held WHERE account = ?1 AND hlc <= ?2 ORDER BY hlc, origin, store, key
    """)
  private static let drop = FrequentStatement(
    """
    DELETE FROM held WHERE account = ?1 AND store = ?2 AND key = ?3 AND hlc = ?4 AND origin = ?5
    """)
  private static let count = FrequentStatement("SELECT count(*) FROM held WHERE account = ?1")
  private static let firstOfEach = FrequentStatement(
    "SELECT origin, min(hlc) FROM held WHERE account = ?1 AND store = ?2 GROUP BY origin")

  /// Of two copies that wrote at one moment the one that comes last has been decided.
  func hold(_ entries: [Entry]) throws {
    for entry in entries { try connection.run(Self.hold, bind: { try bind(entry, to: $0) }) }
  }

  func due(upTo horizon: HybridTimestamp) throws -> [Entry] {
    var entries: [Entry] = []
    try connection.run(
      Self.due,
      bind: { row in
        try row.bind(number, at: 1)
        try row.bind(horizon.rawValue, at: 2)
      }
    ) { row in
      entries.append(Self.entry(row))
      return true
    }
    return entries
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
