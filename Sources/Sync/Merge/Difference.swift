// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeValues

/// A key with different values on two devices. A tombstone stands for a missing or deleted value.
package struct Difference: Sendable, Equatable {
  package let store: String
  package let key: String
  package let left: TaggedCell
  package let right: TaggedCell

  /// What applications would read differently, in the order of store and key. O(entries).
  ///
  /// - Parameters:
  ///   - stores: exactly these; nil for all that are synced.
  ///   - limit: the maximum number of differences per store.
  package static func all(
    _ left: Device, _ right: Device, stores: [String]?, limit: Int = .max
  ) throws(KeepsakeError) -> [Difference] {
    let names = try MergeRun.stores(stores, of: [MergeSide(left), MergeSide(right)])
    return try right.tables.attaching(left) { () throws(KeepsakeError) in
      try right.tables.read { connection in
        try names.flatMap { try values(of: $0, connection, limit) }
      }
    }
  }

  private static func values(
    of store: ByteText, _ connection: Connection, _ limit: Int
  ) throws -> [Difference] {
    // A tombstone is type 0 and NULL, which is also what a missing row becomes.
    try connection.all(
      """
      SELECT a.key AS key, a.type, a.value, ifnull(b.type, 0), b.value
      FROM sender.entry AS a LEFT JOIN main.entry AS b ON b.store = a.store AND b.key = a.key
      WHERE a.store = ?1 AND (a.type IS NOT ifnull(b.type, 0) OR a.value IS NOT b.value)
      UNION ALL
      SELECT b.key, 0, NULL, b.type, b.value FROM main.entry AS b
      WHERE b.store = ?1 AND b.type <> 0 AND NOT EXISTS (
        SELECT 1 FROM sender.entry AS a WHERE a.store = b.store AND a.key = b.key)
      ORDER BY key LIMIT ?2
      """, [.text(store.string), .integer(Int64(limit))]
    ) { row in
      Difference(
        store: store.string, key: row.text(0), left: row.content(1), right: row.content(3))
    }
  }
}
