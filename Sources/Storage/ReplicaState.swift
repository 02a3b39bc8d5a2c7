// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// A device's identity and its two counters, as one transaction sees them.
package struct ReplicaState: Sendable, Equatable {
  package var id: ReplicaID
  /// The largest timestamp accepted here.
  package var last: HybridTimestamp
  /// The last sequence number given here.
  package var sequenceNumber: Int64
  /// The oldest schema version that may still write.
  fileprivate var oldestWriter: Int64
}

extension ReplicaState {
  /// The row of `replica` is a high-water mark that plain local sets leave alone, because the
  /// newest entry already says as much and a set that writes one page less is a faster set.
  package init(_ connection: Connection) throws {
    let state = try connection.first(
      """
      SELECT id,
        max(timestamp, ifnull((
          SELECT timestamp FROM main.entry ORDER BY sequence_number DESC LIMIT 1), 0)),
        max(sequence_number, ifnull((SELECT max(sequence_number) FROM main.entry), 0)),
        min_writer
      FROM main.replica
      """
    ) { row in
      ReplicaState(
        id: ReplicaID(rawValue: row.integer(0)),
        last: HybridTimestamp(rawValue: row.integer(1)), sequenceNumber: row.integer(2),
        oldestWriter: row.integer(3))
    }
    guard let state else { throw Schema.damaged(connection.path, "it has no identity") }
    self = state
  }

  /// The largest timestamp accepted here, for an opening: both statements are prepared in half the
  /// time that the one above takes.
  package static func clock(_ connection: Connection) throws -> HybridTimestamp {
    let saved = try connection.first("SELECT timestamp FROM replica") { $0.integer(0) }
    guard let saved else { throw Schema.damaged(connection.path, "it has no identity") }
    let newest = try connection.first(
      "SELECT timestamp FROM entry ORDER BY sequence_number DESC LIMIT 1"
    ) { $0.integer(0) }
    return HybridTimestamp(rawValue: max(saved, newest ?? 0))
  }

  /// Reads the state for a transaction that writes.
  ///
  /// - Throws: when a newer version has taken the file over since it was opened.
  package init(writing connection: Connection) throws {
    try self.init(connection)
    try Schema.refuseNewer(than: oldestWriter, connection.path)
  }

  static func create(_ connection: Connection, _ id: ReplicaID, oldestWriter: Int) throws {
    try connection.run(
      """
      INSERT INTO replica (only, id, timestamp, sequence_number, min_writer)
      VALUES (1, ?1, 0, 0, ?2)
      """,
      [.integer(id.rawValue), .integer(Int64(oldestWriter))])
  }

  /// Writes the high-water marks down.
  ///
  /// - Throws: also when the last sequence number would be beyond what a file may have.
  package func save(_ connection: Connection) throws {
    try Schema.refuseExhausted(sequenceNumber, connection.path)
    try connection.run(
      """
      UPDATE replica SET id = ?1, timestamp = max(timestamp, ?2),
        sequence_number = max(sequence_number, ?3)
      WHERE id <> ?1 OR timestamp < ?2 OR sequence_number < ?3
      """,
      [
        .integer(id.rawValue), .integer(last.rawValue), .integer(sequenceNumber),
      ])
  }

  /// Sets the clock's high-water mark back to `last`, after a repair: `save` only raises it.
  package func setBack(_ connection: Connection) throws {
    try connection.run("UPDATE replica SET timestamp = ?1", [.integer(last.rawValue)])
  }
}

extension Connection {
  /// Throws if a merge might use up the sequence numbers. No file comes near.
  package func refuseExhausted() throws {
    try Schema.refuseExhausted(ReplicaState(self).sequenceNumber + 1 << 40, path)
  }
}
