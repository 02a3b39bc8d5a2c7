// SPDX-License-Identifier: Apache-2.0

import KeepsakeStorage
import KeepsakeValues

extension FileTables {
  private static let revocations = FrequentStatement(
    "SELECT origin, hlc FROM revocation WHERE account = ?1")

  func revocations() throws -> [ReplicaID: HybridTimestamp] {
    var all: [ReplicaID: HybridTimestamp] = [:]
    try connection.run(Self.revocations, bind: { try $0.bind(number, at: 1) }) { row in
      all[ReplicaID(rawValue: row.integer(0))] = HybridTimestamp(rawValue: row.integer(1))
      return true
    }
    return all
  }

  func revoke(_ origin: ReplicaID, after timestamp: HybridTimestamp) throws {
    try connection.run(
      """
      INSERT INTO revocation (account, origin, hlc) VALUES (?1, ?2, ?3)
      ON CONFLICT (account, origin) DO UPDATE SET hlc = excluded.hlc
      """, [.integer(number), .integer(origin.rawValue), .integer(timestamp.rawValue)])
  }

  static func removeRevocations(of account: Int64, _ connection: Connection) throws {
    try connection.run("DELETE FROM revocation WHERE account = ?1", [.integer(account)])
  }
}
