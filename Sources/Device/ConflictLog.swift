// SPDX-License-Identifier: Apache-2.0

/// The bounds of the conflict log.
package enum ConflictLog {
  /// Rows that it keeps; the oldest go first.
  package static let capacity: Int64 = 10_000
  /// Bytes of lost values that it keeps, or else one conflict: 64 MiB.
  package static let capacityBytes: Int64 = 1 << 26

  /// Drops the oldest conflicts beyond `capacity` and `capacityBytes`.
  package static func trim(_ connection: Connection) throws {
    var (first, count, bytes): (Int64?, Int64, Int64) = (nil, 0, 0)
    try connection.run(
      "SELECT id, length(CAST(loser_value AS BLOB)) FROM conflict ORDER BY id DESC"
    ) { row in
      count += 1
      bytes += row.integer(1)
      guard count <= 1 || (count <= capacity && bytes <= capacityBytes) else { return false }
      first = row.integer(0)
      return true
    }
    try connection.run(
      "DELETE FROM conflict WHERE id < ?1", [first.map { .integer($0) } ?? .null])
  }
}
