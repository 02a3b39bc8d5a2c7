// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// Entries that a hub does not have though it has passed them, by local sequence number, within an
/// access; every statement that writes `unsent`.
struct UnsentTable {
  let connection: Connection

  /// Whether a file has noted any.
  func hasAny(in schema: String) throws -> Bool {
    try connection.first("SELECT 1 FROM \(schema).unsent LIMIT 1") { _ in true } ?? false
  }

  /// Those that one reading of a range of local sequence numbers, which leaves the first out, can
  /// have passed over. Needs `Connection.want`.
  func entries(
    of hub: ReplicaID, after place: Int64, through end: Int64
  ) throws -> [Int64] {
    try connection.all(
      "\(Self.read) ORDER BY unsent.lseq",
      [.integer(place), .integer(end), .integer(hub.rawValue)]
    ) { $0.integer(0) }
  }

  private static let read = """
    SELECT unsent.lseq FROM unsent CROSS JOIN entry AS e ON e.lseq = unsent.lseq
    CROSS JOIN wanted AS w ON w.store = e.store
    WHERE unsent.lseq > ?1 AND unsent.lseq <= ?2 AND unsent.hub = ?3 AND e.lseq > w.cursor
    """

  /// Has exactly these of such a reading, and forgets entries that were written again.
  func replace(
    with entries: [Int64], of hub: ReplicaID, after place: Int64, through end: Int64
  ) throws {
    try connection.run(
      """
      DELETE FROM unsent WHERE hub = ?3 AND lseq IN (\(Self.read))
        OR NOT EXISTS (SELECT 1 FROM entry WHERE entry.lseq = unsent.lseq)
      """, [.integer(place), .integer(end), .integer(hub.rawValue)])
    for lseq in entries {
      try connection.run(
        "INSERT INTO unsent (lseq, hub) VALUES (?1, ?2)", [.integer(lseq), .integer(hub.rawValue)])
    }
  }

  /// What the hub lacks now of these stores: how many entries, and the first of them.
  func count(
    of hub: ReplicaID, in stores: [ByteText]
  ) throws -> (entries: Int, first: Address?) {
    let stores = Set(stores)
    var (entries, first) = (0, Address?.none)
    try connection.run(
      """
      SELECT e.store, e.key FROM unsent CROSS JOIN entry AS e ON e.lseq = unsent.lseq
      WHERE unsent.hub = ?1 ORDER BY unsent.lseq
      """, [.integer(hub.rawValue)]
    ) { row in
      let address = Address(store: row.text(0), key: row.text(1))
      guard stores.contains(address.store) else { return true }
      entries += 1
      first = first ?? address
      return true
    }
    return (entries, first)
  }
}

extension Connection {
  var unsent: UnsentTable { UnsentTable(connection: self) }
}
