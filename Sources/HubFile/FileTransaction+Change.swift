// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeValues

extension FileTransaction {
  func apply(_ change: HubChange, to account: Int64) throws {
    guard !change.deletesAccount else { return try delete(account) }
    if let saved = change.account { try save(saved) }
    try put(change.rows, account)
    for key in change.forgottenKeys {
      try connection.run(
        "DELETE FROM entry WHERE account = ?1 AND key = ?2", [.integer(account), .blob(Data(key))])
    }
    if let mark = change.mark {
      try connection.run(Self.addMark) { bindings in
        try bindings.bind(account, at: 1)
        try bindings.bind(mark.number, at: 2)
        try bindings.bind(mark.time, at: 3)
        try bindings.bind(mark.bits, at: 4)
      }
    }
    if let vectors = change.vectors {
      try connection.run(Self.saveVectors) { bindings in
        try bindings.bind(account, at: 1)
        try bindings.bind(vectors, at: 2)
      }
    }
    if let replica = change.replica { try save(replica, account) }
    if let device = change.device { try save(device, account) }
    if let number = change.forgottenDevice {
      try connection.run(
        "DELETE FROM device WHERE account = ?1 AND number = ?2",
        [.integer(account), .integer(number)])
    }
    if change.dropsInvitation {
      try connection.run("DELETE FROM invitation WHERE account = ?1", [.integer(account)])
    }
    if let invitation = change.invitation { try save(invitation, account) }
    if let kept = change.trim { try trim(kept, account) }
  }

  private func delete(_ account: Int64) throws {
    for table in ["entry", "vectors", "mark", "replica", "device", "invitation"] {
      try connection.run("DELETE FROM \(table) WHERE account = ?1", [.integer(account)])
    }
    try connection.run("DELETE FROM account WHERE id = ?1", [.integer(account)])
  }

  // MARK: - The log

  private static let saveAccount = FrequentStatement(
    """
    INSERT INTO account (\(accountColumns))
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT DO UPDATE SET mark_number = ?2, mark_bits = ?3, mark_time = ?4, forgotten = ?5,
      rows = ?6, bytes = ?7, reserved_until = ?8, reserved_by = ?9
    """)

  private func save(_ account: HubAccount) throws {
    try connection.run(Self.saveAccount) { bindings in
      let numbers = [
        account.id, account.newest.number, account.newest.bits, account.newest.time,
        account.forgotten, account.rows, account.bytes, account.reservedUntil,
      ]
      for (index, number) in numbers.enumerated() {
        try bindings.bind(number, at: Int32(index + 1))
      }
      try bindings.bind(account.reservedBy, at: 9)
    }
  }

  private static let putRow = FrequentStatement(
    """
    INSERT INTO entry (account, number, is_deleted, key, body) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (account, key) DO UPDATE SET number = ?2, is_deleted = ?3, body = ?5
    """)

  private func put(_ rows: [HubRow], _ account: Int64) throws {
    for row in rows {
      try connection.run(Self.putRow) { bindings in
        try bindings.bind(account, at: 1)
        try bindings.bind(row.number, at: 2)
        try bindings.bind(row.isDeleted ? 1 : 0, at: 3)
        try bindings.bind(row.key, at: 4)
        try bindings.bind(row.body, at: 5)
      }
    }
  }

  private static let addMark = FrequentStatement("INSERT INTO mark VALUES (?1, ?2, ?3, ?4)")
  private static let saveVectors = FrequentStatement(
    "INSERT INTO vectors VALUES (?1, ?2) ON CONFLICT DO UPDATE SET body = ?2")
  private static let saveReplica = FrequentStatement(
    """
    INSERT INTO replica VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET number = ?3, mark = ?4
    """)

  private func save(_ replica: HubReplica, _ account: Int64) throws {
    try connection.run(Self.saveReplica) { bindings in
      try bindings.bind(account, at: 1)
      try bindings.bind(replica.id, at: 2)
      try bindings.bind(replica.number, at: 3)
      try bindings.bind(replica.mark, at: 4)
    }
  }

  private func trim(_ kept: HubTrim, _ account: Int64) throws {
    try connection.run(
      """
      DELETE FROM replica WHERE account = ?1 AND id IN (
        SELECT id FROM replica WHERE account = ?1 ORDER BY number DESC, id LIMIT -1 OFFSET ?2)
      """, [.integer(account), .integer(kept.replicas)])
    try connection.run(
      """
      DELETE FROM mark WHERE account = ?1 AND (
        time < ?4 AND number < (
          SELECT number FROM mark WHERE account = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2 - 1)
        OR number < (
          SELECT number FROM mark WHERE account = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?3 - 1))
      """,
      [
        .integer(account), .integer(kept.marks), .integer(kept.marksOfDay), .integer(kept.day),
      ])
  }

  // MARK: - Devices

  private func save(_ device: HubDevice, _ account: Int64) throws {
    try connection.run(
      """
      INSERT INTO device (account, number, created, last_use, revoked, revoker, name, token)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      ON CONFLICT (account, number) DO UPDATE
        SET last_use = ?4, revoked = ?5, revoker = ?6, name = ?7
      """,
      [
        .integer(account), .integer(device.number), .integer(device.created),
        .integer(device.lastUse), device.revoked.map { .integer($0) } ?? .null,
        device.revoker.map { .integer($0) } ?? .null, .text(device.name),
        .blob(Data(device.tokenHash)),
      ])
  }

  private func save(_ invitation: HubInvitation, _ account: Int64) throws {
    try connection.run(
      """
      INSERT INTO invitation (account, ends, code) VALUES (?1, ?2, ?3)
      ON CONFLICT DO UPDATE SET ends = ?2, code = ?3
      """,
      [.integer(account), .integer(invitation.ends), .blob(Data(invitation.codeHash))])
  }
}
