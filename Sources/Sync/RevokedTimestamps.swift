// SPDX-License-Identifier: Apache-2.0
//
// Timestamps that do not stand, because the device that gave them has taken them back
// (`ClockRepair`). Of an identity in `void`, whatever is timestamped later than its limit
// - never comes in from `held`,
// - counts as made at the limit where it has come in already, so that every later write beats it.
// The device itself has written anew what it still holds; so what becomes of the old copies decides
// nothing, unless it never comes back.

import KeepsakeDevice
import KeepsakeValues

extension Connection {
  /// Identities that a file names at most; one of its own device has a few.
  private static var revocationLimit: Int { 100_000 }

  /// The last timestamp that stands, by identity.
  ///
  /// - Throws: when there are more than any history of repairs makes.
  func revocations() throws -> [ReplicaID: HybridTimestamp] {
    let rows = try all(
      "SELECT origin, hlc FROM void LIMIT ?1", [.integer(Int64(Self.revocationLimit) + 1)]
    ) { (ReplicaID(rawValue: $0.integer(0)), HybridTimestamp(rawValue: $0.integer(1))) }
    guard rows.count <= Self.revocationLimit else {
      throw KeepsakeError(
        .corrupt, path: path, "it takes back the stamps of too many devices",
        cure: "do not trust this file; restore a backup of it")
    }
    return Dictionary(rows, uniquingKeysWith: min)
  }

  /// Takes down up to where the timestamps of an identity stand, and lets it hold for what is here.
  ///
  /// - Parameter id: the device's identity if it is the one that was given up: it is a copy.
  /// - Returns: how many entries are timestamped otherwise now, or no longer wait.
  func revoke(
    _ origin: ReplicaID, after limit: HybridTimestamp, as id: ReplicaID
  ) throws -> Int {
    try run(
      """
      INSERT INTO void (origin, hlc) VALUES (?1, ?2)
      ON CONFLICT (origin) DO UPDATE SET hlc = min(hlc, excluded.hlc)
      """, [.integer(origin.rawValue), .integer(limit.rawValue)])
    var replica = try ReplicaState(self)
    if origin == replica.id { try rotate(&replica, to: id) }
    try VersionVectors.cut(self, origin, after: limit)
    try Graves.cut(self, origin, after: limit)
    let dropped = try Held.dropRevoked(self)
    // A hub keeps the row, as made at the limit, and so it has to come in now.
    if dropped > 0 { try peers.rewindAll() }
    return try dropped + sign(origin, after: limit, &replica)
      + cut(origin, after: limit, &replica)
  }

  /// Revokes what this device has written after a limit, under each former replica ID that
  /// `Identity.cutAll` has cut to it.
  func revokeOwn(after limit: HybridTimestamp) throws {
    try run(
      """
      INSERT INTO void (origin, hlc) SELECT id, hlc FROM superseded WHERE hlc = ?1
      ON CONFLICT (origin) DO UPDATE SET hlc = min(hlc, excluded.hlc)
      """, [.integer(limit.rawValue)])
    try Held.dropRevoked(self)
  }

  /// What this device itself has written under the identity, as a copy of the one that gave it up,
  /// it signs with its new one. The timestamps stay: its own clock gave them.
  private func sign(
    _ origin: ReplicaID, after limit: HybridTimestamp, _ replica: inout ReplicaState
  ) throws -> Int {
    let own = try first(
      "SELECT hlc FROM superseded WHERE id = ?1", [.integer(origin.rawValue)]
    ) { $0.integer(0) }
    guard let own, own > limit.rawValue else { return 0 }
    let count = try entries.rewrite(
      where: "origin = ?1 AND hlc > ?2 AND hlc <= ?3",
      [.integer(origin.rawValue), .integer(limit.rawValue), .integer(own)],
      timestamps: .unchanged, origin: replica.id, &replica)
    try replica.save(self)
    try Identity.cut(self, origin, after: limit)
    return count
  }

  /// What came in from elsewhere. It may have replaced what now is the later write, so everything
  /// is read again of everybody.
  private func cut(
    _ origin: ReplicaID, after limit: HybridTimestamp, _ replica: inout ReplicaState
  ) throws -> Int {
    let count = try entries.rewrite(
      where: "origin = ?1 AND hlc > ?2", [.integer(origin.rawValue), .integer(limit.rawValue)],
      timestamps: .fixed(limit), &replica)
    guard count > 0 else { return 0 }
    // The clock stays where it is.
    try replica.save(self)
    try peers.rewindAll()
    return count
  }

  /// Applies revocations to incoming entries of a device that does not know of them and is only
  /// read.
  func cutRevokedIncoming() throws {
    guard try first("SELECT 1 FROM main.void LIMIT 1", [], { _ in true }) == true else { return }
    try run(
      """
      UPDATE incoming SET hlc = v.hlc FROM main.void AS v
      WHERE v.origin = incoming.origin AND incoming.hlc > v.hlc
      """)
  }
}
