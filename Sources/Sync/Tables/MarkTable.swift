// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
import KeepsakeValues

/// The marks of one file, within an access.
///
/// A file keeps at least its last 1,000 marks, and those that it has noted as its own mark at the
/// last sync with a peer or a hub: these may have noted them, too.
package struct MarkTable {
  /// Marks that are kept, beside those that peers may have noted.
  private static let capacity: Int64 = 1_000
  /// Old ones are dropped about once in so many additions.
  private static let marksToTrim: Int64 = 64

  let connection: Connection

  private static let columns = "sequence_number, timestamp, bits"

  /// The newest mark; `start` if there is none.
  package func newest() throws -> Mark {
    try mark("ORDER BY sequence_number DESC")
  }

  /// The last mark before a sequence number; `start` if there is none.
  func last(before number: Int64) throws -> Mark {
    try mark("WHERE sequence_number < ?1 ORDER BY sequence_number DESC", [.integer(number)])
  }

  private func mark(_ condition: String, _ arguments: [Cell] = []) throws -> Mark {
    try connection.first(
      "SELECT \(Self.columns) FROM main.mark \(condition) LIMIT 1", arguments
    ) { Mark($0) } ?? .start
  }

  /// The last mark that this file and the attached one both have.
  func lastShared() throws -> Mark {
    try mark(
      """
      AS m WHERE bits = (
        SELECT bits FROM sender.mark AS s WHERE s.sequence_number = m.sequence_number)
      ORDER BY sequence_number DESC
      """)
  }

  /// Whether a mark is in this file's history; nil if it is too old to tell.
  package func contains(_ mark: Mark) throws -> Bool? {
    if mark.sequenceNumber == 0 { return true }
    let bits = try connection.first(
      "SELECT bits FROM main.mark WHERE sequence_number = ?1", [.integer(mark.sequenceNumber)]
    ) { $0.integer(0) }
    if bits == mark.bits { return true }
    let trimmed = try connection.first("SELECT trimmed FROM main.replica") { $0.integer(0) }
    return mark.sequenceNumber <= trimmed ?? 0 ? nil : false
  }

  /// The highest sequence number in a synced store. Dropped tombstones count, so that a mark can
  /// show that they were read; not beyond what the file has given.
  package func newestNumber() throws -> Int64 {
    try connection.first(Self.newestSynced) { $0.integer(0) } ?? 0
  }

  private static let newestSynced = """
    SELECT max(
      ifnull((SELECT sequence_number FROM main.entry INDEXED BY entry_sequence
        WHERE \(Connection.isSynced("store")) ORDER BY sequence_number DESC LIMIT 1), 0),
      min(ifnull((SELECT max(sequence_number) FROM main.forgotten), 0),
        max(ifnull((SELECT max(sequence_number) FROM main.entry), 0),
          (SELECT sequence_number FROM main.replica))))
    """

  /// The newest mark, and whether nothing in a synced store came after it.
  func state() throws -> (mark: Mark, isCurrent: Bool) {
    let (number, mark) = (try newestNumber(), try newest())
    // Another program may have deleted what it counted.
    return (mark.sequenceNumber <= number ? mark : .start, mark.sequenceNumber == number)
  }

  /// Adds a mark if a synced store has changed since the last one. Within a write.
  ///
  /// - Returns: the newest mark.
  package func add(_ source: IdentitySource) throws -> Mark {
    let (newest, last) = (try newestNumber(), try newest())
    guard newest != last.sequenceNumber else { return last }
    if newest < last.sequenceNumber {
      // Another program has deleted rows: the file was set back.
      try connection.run(
        "DELETE FROM main.mark WHERE sequence_number >= ?1", [.integer(newest)])
    }
    let mark = Mark(
      sequenceNumber: newest, timestamp: try ReplicaState(connection).last,
      bits: source.markBits())
    // Now and then is enough.
    if mark.bits % Self.marksToTrim == 0 { try trim() }
    try connection.run(
      "INSERT INTO main.mark (\(Self.columns)) VALUES (?1, ?2, ?3)", mark.cells)
    return mark
  }

  /// Drops old marks before one is added.
  private func trim() throws {
    let old = """
      sequence_number <= (
        SELECT sequence_number FROM main.mark ORDER BY sequence_number DESC LIMIT 1 OFFSET ?1)
      AND bits NOT IN (
        SELECT own_bits FROM main.peer UNION ALL SELECT sent_bits FROM main.hub)
      """
    let arguments: [Cell] = [.integer(Self.capacity - 1)]
    try connection.run(
      """
      UPDATE main.replica SET trimmed = max(trimmed, ifnull(
        (SELECT max(sequence_number) FROM main.mark WHERE \(old)), 0))
      """, arguments)
    try connection.run("DELETE FROM main.mark WHERE \(old)", arguments)
  }
}

extension Connection {
  package var marks: MarkTable { MarkTable(connection: self) }
}
