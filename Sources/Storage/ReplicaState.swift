// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// A device's identity and its two counters, as one transaction sees them.
package struct ReplicaState: Sendable, Equatable {
  package var id: ReplicaID
  /// The largest timestamp accepted here.
  package var last: HybridTimestamp
  /// The last local sequence number given here.
  package var lseq: Int64
  /// The oldest schema version that may still write.
  private var oldestWriter: Int64

  /// The row of `replica` is a high-water mark that plain local sets leave alone, because the
  /// newest entry already says as much and a set that writes one page less is a faster set.
  package init(_ connection: Connection) throws {
    let state = try connection.first(
      """
      SELECT id,
        max(hlc, ifnull((SELECT hlc FROM entry ORDER BY lseq DESC LIMIT 1), 0)),
        max(lseq, ifnull((SELECT max(lseq) FROM entry), 0)), min_writer
      FROM replica
      """
    ) { row in
      ReplicaState(
        id: ReplicaID(rawValue: row.integer(0)),
        last: HybridTimestamp(rawValue: row.integer(1)), lseq: row.integer(2),
        oldestWriter: row.integer(3))
    }
    guard let state else {
      throw KeepsakeError(
        .corrupt, path: connection.path, "it has no identity", cure: "restore a backup of it")
    }
    self = state
  }

  /// The same for a transaction that writes.
  ///
  /// - Throws: when a newer version has taken the file over since it was opened.
  package init(writing connection: Connection) throws {
    try self.init(connection)
    try Schema.refuseNewer(than: oldestWriter, connection.path)
  }

  private init(
    id: ReplicaID, last: HybridTimestamp, lseq: Int64, oldestWriter: Int64
  ) {
    self.id = id
    self.last = last
    self.lseq = lseq
    self.oldestWriter = oldestWriter
  }

  static func create(_ connection: Connection, _ id: ReplicaID, oldestWriter: Int) throws {
    try connection.run(
      "INSERT INTO replica (only, id, hlc, lseq, min_writer) VALUES (1, ?1, 0, 0, ?2)",
      [.integer(id.rawValue), .integer(Int64(oldestWriter))])
  }

  /// Writes the high-water marks down.
  ///
  /// - Throws: also when the last local sequence number would be beyond what a file may have.
  package func save(_ connection: Connection) throws {
    try Schema.refuseExhausted(lseq, connection.path)
    try connection.run(
      "UPDATE replica SET id = ?1, hlc = max(hlc, ?2), lseq = max(lseq, ?3)",
      [
        .integer(id.rawValue), .integer(last.rawValue), .integer(lseq),
      ])
  }

  /// Gives a copy a replica ID of its own; its counters go on.
  package static func rename(_ connection: Connection, _ id: ReplicaID) throws {
    try connection.run("UPDATE replica SET id = ?1", [.integer(id.rawValue)])
  }

  /// Sets the clock's high-water mark back to `last`, after a repair: `save` only raises it.
  package func setBack(_ connection: Connection) throws {
    try connection.run("UPDATE replica SET hlc = ?1", [.integer(last.rawValue)])
  }

  /// Notes the local sequence number of the last collection.
  package static func noteCollection(_ connection: Connection, _ lseq: Int64) throws {
    try connection.run("UPDATE main.replica SET gc_lseq = ?1", [.integer(lseq)])
  }
}
