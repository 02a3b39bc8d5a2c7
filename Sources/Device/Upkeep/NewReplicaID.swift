// SPDX-License-Identifier: Apache-2.0

public import Foundation
package import KeepsakeStorage
public import KeepsakeValues

/// Why a file has got a new replica ID.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum NewIDReason: String, Sendable, Hashable {
  /// It was made as a clone of another device.
  case clone
  /// A backup took its place.
  case restore
  /// A backup took the place of the damaged file.
  case recovery
  /// A sync found that it is a copy, or was set back to an earlier state.
  case copy
  /// Its clock had run ahead.
  case clock
  /// It has joined another account of a hub.
  case account
}

/// The source of new replica IDs and of the random bits of marks.
package struct IdentitySource {
  package let replicaID: () -> ReplicaID
  package let markBits: () -> Int64

  package init(replicaID: @escaping () -> ReplicaID, markBits: @escaping () -> Int64) {
    (self.replicaID, self.markBits) = (replicaID, markBits)
  }

  /// The system's random numbers.
  package static var system: IdentitySource {
    IdentitySource(
      replicaID: { .random() }, markBits: { .random(in: 1..<(1 << 62)) })
  }
}

extension Connection {
  /// SQL that is true for the synced stores of a table.
  package static func isSynced(_ column: String) -> String {
    "(\(column) = 'cloud' OR (\(column) >= 'cloud:' AND \(column) < 'cloud;'))"
  }

  /// Looks up each name in the indexes of all three tables, so it takes no longer for more rows.
  private static let syncedNames = """
    WITH RECURSIVE name (store) AS (
      VALUES ('clouc')
      UNION ALL
      SELECT (
        SELECT min(store) FROM (
          SELECT min(store) AS store FROM entry WHERE store > name.store
          UNION ALL SELECT min(store) FROM seen WHERE store > name.store
          UNION ALL SELECT min(store) FROM forgotten WHERE store > name.store))
      FROM name WHERE name.store < 'cloud;'
    )
    SELECT store FROM name WHERE \(isSynced("store"))
    """

  /// The synced stores of which the file knows anything.
  package func syncedStores() throws -> Set<ByteText> {
    Set(try all(Self.syncedNames) { ByteText($0.text(0)) })
  }

  /// The stores in which the file's own writes have to be noted if it takes a new replica ID:
  /// also others than the synced ones, if a merge has named them.
  package func storesOfOwnWrites() throws -> Set<ByteText> {
    try syncedStores().union(stores(in: "seen").map(ByteText.init))
  }

  /// Gives a copy or a restored backup that has not written yet a new replica ID: all that was
  /// written under the old one until now is known, and no row changes.
  package func takeNewID(
    _ id: ReplicaID, reason: NewIDReason, at now: Int64, _ replica: inout ReplicaState
  ) throws {
    for store in try storesOfOwnWrites() { try raiseSeen(store, replica.id, to: replica.last) }
    try rename(id, reason: reason, at: now, &replica)
  }

  /// Notes the present replica ID as a former one, and takes another.
  package func rename(
    _ id: ReplicaID, reason: NewIDReason, at now: Int64, _ replica: inout ReplicaState
  ) throws {
    try run(
      """
      INSERT OR REPLACE INTO main.former_replica (id, timestamp, reason, ended_at)
      VALUES (?1, ?2, ?3, ?4)
      """,
      [
        .integer(replica.id.rawValue), .integer(replica.last.rawValue), .text(reason.rawValue),
        .integer(now),
      ])
    replica.id = id
    try replica.save(self)
  }
}

extension Device {
  /// Takes a new replica ID, before anything is written.
  package func takeNewID(
    _ id: ReplicaID = .random(), reason: NewIDReason
  ) throws(KeepsakeError) {
    let now = clock.milliseconds
    try tables.write { connection in
      var replica = try ReplicaState(connection)
      try connection.takeNewID(id, reason: reason, at: now, &replica)
      return ((), [])
    }
  }
}

/// A replica ID that a file had before.
public struct FormerReplica: Sendable, Equatable {
  /// The former replica ID.
  public let id: ReplicaID
  /// Why the file has got another one. Nil if a newer version has noted a reason that this one does
  /// not know.
  public let reason: NewIDReason?
  /// When it has, by its clock.
  public let endedAt: Date
}

extension Device {
  /// The replica IDs that the file had before, the last one first.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be read.
  public func formerReplicas() throws(KeepsakeError) -> [FormerReplica] {
    try tables.look { connection in
      try connection.all(
        "SELECT id, reason, ended_at FROM former_replica ORDER BY ended_at DESC, id"
      ) { row in
        FormerReplica(
          id: ReplicaID(rawValue: row.integer(0)), reason: NewIDReason(rawValue: row.text(1)),
          endedAt: Date(milliseconds: row.integer(2)))
      }
    }
  }
}
