// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Device {
  /// Gives this device a new identity, because another file has the same past.
  ///
  /// Its entries keep the origin they were written under. Whom it met, it met as somebody else, so
  /// it forgets the cursors; the next meetings are in full. What it wrote under its former
  /// identities is remembered, so that its own writes are not taken for a stranger's in the
  /// conflict rule.
  func rotate(to id: ReplicaID) throws(KeepsakeError) {
    try core.write { connection in
      var replica = try ReplicaState(connection)
      let newest = try connection.first(
        "SELECT ifnull(max(hlc), 0) FROM entry WHERE origin = ?1",
        [.integer(replica.id.rawValue)]
      ) { $0.integer(0) }
      try connection.run(
        "INSERT OR REPLACE INTO superseded (id, hlc) VALUES (?1, ?2)",
        [.integer(replica.id.rawValue), .integer(newest ?? 0)])
      try connection.run("DELETE FROM peer")
      replica.id = id
      replica.epoch += 1
      try replica.save(connection)
      return ((), [])
    }
  }
}
