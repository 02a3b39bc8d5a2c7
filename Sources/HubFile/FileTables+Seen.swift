// SPDX-License-Identifier: Apache-2.0
//
// The version vector.

import KeepsakeStorage
import KeepsakeSync
import KeepsakeValues

extension FileTables {
  private static let seen = FrequentStatement(
    "SELECT origin, hlc FROM seen WHERE account = ?1 AND store = ?2 ORDER BY origin")
  private static let raise = FrequentStatement(
    """
    INSERT INTO seen (account, store, origin, hlc) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (account, store, origin) DO UPDATE SET hlc = excluded.hlc WHERE excluded.hlc > hlc
    """)

  func seen(of stores: [ByteText]) throws -> [HubRequest.Seen] {
    try timestamps(Self.seen, of: stores)
  }

  /// Timestamps of origins, by a statement about one store.
  func timestamps(
    _ statement: FrequentStatement, of stores: [ByteText]
  ) throws -> [HubRequest.Seen] {
    var all: [HubRequest.Seen] = []
    for store in stores {
      try connection.run(
        statement,
        bind: { row in
          try row.bind(number, at: 1)
          try row.bind(store.string, at: 2)
        }
      ) { row in
        all.append(
          HubRequest.Seen(
            store, ReplicaID(rawValue: row.integer(0)),
            HybridTimestamp(rawValue: row.integer(1))))
        return true
      }
    }
    return all
  }

  func raise(_ seen: [HubRequest.Seen]) throws {
    for seen in seen {
      try connection.run(Self.raise) { row in
        try row.bind(number, at: 1)
        try row.bind(seen.store.string, at: 2)
        try row.bind(seen.origin.rawValue, at: 3)
        try row.bind(max(seen.timestamp, .zero).rawValue, at: 4)
      }
    }
  }

  func cutSeen(of origin: ReplicaID, to timestamp: HybridTimestamp) throws {
    try connection.run(
      "UPDATE seen SET hlc = ?3 WHERE account = ?1 AND origin = ?2 AND hlc > ?3",
      [.integer(number), .integer(origin.rawValue), .integer(timestamp.rawValue)])
  }

  static func removeSeen(of account: Int64, _ connection: Connection) throws {
    try connection.run("DELETE FROM seen WHERE account = ?1", [.integer(account)])
  }
}
