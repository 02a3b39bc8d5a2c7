// SPDX-License-Identifier: Apache-2.0
//
// Under which replica IDs a device writes: its present one, and those that it has given up because
// another file had the same past, or because its clock had run ahead.

package import KeepsakeDevice
package import KeepsakeValues

enum Identity {
  /// The origins under which this device has written.
  static let own = "(SELECT id FROM replica UNION ALL SELECT id FROM superseded)"

  /// The same, read.
  static func all(_ connection: Connection) throws -> Set<Int64> {
    Set(try connection.all("SELECT id FROM \(own)") { $0.integer(0) })
  }

  /// Cuts what this device has written under a former replica ID to a limit.
  static func cut(
    _ connection: Connection, _ id: ReplicaID, after limit: HybridTimestamp
  ) throws {
    try connection.run(
      "UPDATE superseded SET hlc = ?1 WHERE id = ?2",
      [.integer(limit.rawValue), .integer(id.rawValue)])
  }

  /// The same of one former replica ID, and of every other that has written after the limit.
  static func cutAll(
    _ connection: Connection, _ id: ReplicaID, after limit: HybridTimestamp
  ) throws {
    try connection.run(
      "UPDATE superseded SET hlc = ?1 WHERE hlc > ?1 OR id = ?2",
      [.integer(limit.rawValue), .integer(id.rawValue)])
  }
}

extension Connection {
  /// Gives the device a new identity.
  ///
  /// Its entries keep the origin they were written under. Its peers met it under another ID, so
  /// it forgets the cursors; the next exchanges are in full. That there are these peers it knows
  /// on: tombstones wait for them. What it wrote under its former identities is remembered too, so
  /// that its own writes are not taken for a stranger's in the conflict rule.
  package func rotate(_ replica: inout ReplicaState, to id: ReplicaID) throws {
    let newest = try first(
      "SELECT ifnull(max(hlc), 0) FROM entry WHERE origin = ?1", [.integer(replica.id.rawValue)]
    ) { $0.integer(0) }
    try run(
      "INSERT OR REPLACE INTO superseded (id, hlc) VALUES (?1, ?2)",
      [.integer(replica.id.rawValue), .integer(newest ?? 0)])
    try peers.forgetExchanges()
    replica.id = id
    try replica.save(self)
  }
}

extension Device {
  /// Gives a copy of a device an identity of its own.
  func becomeDevice(_ id: ReplicaID) throws(KeepsakeError) {
    try core.write { connection in
      let original = try ReplicaState(connection)
      // What the original wrote until now is known here, and is not this device's own.
      for store in try connection.syncedStores() {
        try VersionVectors.note(connection, original.id, of: store.string, upTo: original.last)
      }
      try connection.peers.clear()
      // The original still has its conflicts; each is resolved once.
      try connection.conflictLog.clear()
      try ReplicaState.rename(connection, id)
      return ((), [])
    }
  }
}
