// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
package import KeepsakeValues

extension Device {
  /// Makes a second device of what this one holds: the honest way to do what `cp` does.
  ///
  /// The copy has an identity of its own from the start, so neither has to be renamed when they
  /// meet. It knows everything that this device knew, has met nobody,
  /// and starts an empty conflict log.
  ///
  /// - Parameter path: where nothing is yet.
  /// - Throws: `KeepsakeError`; then nothing was made.
  public func clone(to path: String) throws(KeepsakeError) {
    var generator = SystemRandomNumberGenerator()
    try clone(to: path, identity: .random(using: &generator))
  }

  package func clone(to path: String, identity: ReplicaID) throws(KeepsakeError) {
    try copy(to: path) { copy throws(KeepsakeError) in
      try copy.becomeDevice(identity)
    }
  }

  private func becomeDevice(_ id: ReplicaID) throws(KeepsakeError) {
    try core.write { connection in
      let original = try ReplicaState(connection)
      // What the original wrote until now is known here, and is not this device's own.
      for store in try connection.stores() where StoreName.isSynced(store) {
        try connection.run(
          """
          INSERT INTO seen (store, origin, hlc) VALUES (?1, ?2, ?3)
          ON CONFLICT (store, origin) DO UPDATE SET hlc = max(hlc, excluded.hlc)
          """,
          [.text(store), .integer(original.id.rawValue), .integer(original.last.rawValue)])
      }
      try connection.run("DELETE FROM peer")
      // The original still has its conflicts; each is resolved once.
      try connection.run("DELETE FROM conflict")
      try connection.run("DELETE FROM sqlite_sequence WHERE name = 'conflict'")
      try connection.run("UPDATE replica SET id = ?1, epoch = 0", [.integer(id.rawValue)])
      return ((), [])
    }
  }
}
