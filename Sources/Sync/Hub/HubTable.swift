// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
import KeepsakeValues

/// What a file knows of an account of a hub. The hub has the rows up to `sent`, or rows that win
/// over them, except those with the numbers `held`.
package struct HubCursor: Equatable, Sendable {
  /// The hub's mark before all others.
  package static let beginning = "0-0000000000000000"

  /// The hub's mark up to which this file has read it.
  package var read = beginning
  /// The newest mark that the hub has sent. If the hub does not know that mark any more, it was set
  /// back, and may lack rows that were sent.
  package var newest = beginning
  package var sent = Mark.start
  /// Ascending numbers of rows that were held back.
  package var held: [Int64] = []

  package init() {}
}

/// Reads and writes the tables `hub` and `hub_held` of one file, within an access.
package struct HubTable {
  let connection: Connection

  package func cursor(of account: Int64) throws -> HubCursor {
    var cursor = HubCursor()
    try connection.run(
      """
      SELECT read_mark, newest_mark, sent_number, sent_timestamp, sent_bits FROM hub
      WHERE account = ?1
      """, [.integer(account)]
    ) {
      (cursor.read, cursor.newest, cursor.sent) = ($0.text(0), $0.text(1), Mark($0, from: 2))
      return false
    }
    cursor.held = try connection.all(
      "SELECT sequence_number FROM hub_held WHERE account = ?1 ORDER BY sequence_number",
      [.integer(account)]
    ) { $0.integer(0) }
    return cursor
  }

  /// The lowest number of a tombstone that the hub lacks, if the file has dropped it.
  func firstLost(_ cursor: HubCursor) throws -> Int64 {
    try cursor.held.first { try !hasEntry($0) } ?? cursor.sent.sequenceNumber + 1
  }

  /// Whether an entry has a sequence number. If not, the entry was changed or dropped.
  func hasEntry(_ number: Int64) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM entry WHERE sequence_number = ?1", [.integer(number)]
    ) { _ in true } ?? false
  }

  /// Saves a cursor. The clock may have been repaired since the mark was made.
  func save(_ cursor: HubCursor, of account: Int64) throws {
    try connection.run(
      """
      INSERT INTO hub (account, read_mark, newest_mark, sent_number, sent_timestamp, sent_bits)
      VALUES (?1, ?2, ?3, ?4, min(?5, ?7), ?6)
      ON CONFLICT (account) DO UPDATE SET read_mark = excluded.read_mark,
        newest_mark = excluded.newest_mark, sent_number = excluded.sent_number,
        sent_timestamp = excluded.sent_timestamp, sent_bits = excluded.sent_bits
      """,
      [.integer(account), .text(cursor.read), .text(cursor.newest)] + cursor.sent.cells
        + [.integer(try ReplicaState(connection).last.rawValue)])
    try connection.run("DELETE FROM hub_held WHERE account = ?1", [.integer(account)])
    for number in cursor.held {
      try connection.run(
        "INSERT INTO hub_held (account, sequence_number) VALUES (?1, ?2)",
        [.integer(account), .integer(number)])
    }
  }

  /// Notes the time of a sync; at most once a day if nothing was new.
  ///
  /// - Parameter now: milliseconds since 1970.
  func noteSync(of account: Int64, isNews: Bool, at now: Int64) throws {
    try connection.run(
      """
      UPDATE hub SET synced_at = ?2
      WHERE account = ?1 AND (?3 OR synced_at > ?2 OR synced_at < ?2 - 86400000)
      """, [.integer(account), .integer(now), .integer(isNews ? 1 : 0)])
  }
}

extension Connection {
  package var hubs: HubTable { HubTable(connection: self) }
}
