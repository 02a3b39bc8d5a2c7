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
        try bindings.bind(mark.bits, at: 3)
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
    try changeInvitations(change, account)
    if let trim = change.trim { try self.trim(trim, account) }
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
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    ON CONFLICT DO UPDATE SET number = ?2, mark_number = ?3, mark_bits = ?4, mark_time = ?5,
      trimmed = ?6, forgotten = ?7, untrimmed = ?8, rows = ?9, bytes = ?10, reserved_until = ?11,
      reserved_by = ?12
    """)

  private func save(_ account: HubAccount) throws {
    try connection.run(Self.saveAccount) { bindings in
      let numbers = [
        account.id, account.number, account.newest.number, account.newest.bits,
        account.newest.time, account.trimmed, account.forgotten, account.untrimmed, account.rows,
        account.bytes, account.reservedUntil,
      ]
      for (index, number) in numbers.enumerated() {
        try bindings.bind(number, at: Int32(index + 1))
      }
      try bindings.bind(account.reservedBy, at: 12)
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

  private static let addMark = FrequentStatement("INSERT INTO mark VALUES (?1, ?2, ?3)")
  private static let saveVectors = FrequentStatement(
    "INSERT INTO vectors VALUES (?1, ?2) ON CONFLICT DO UPDATE SET body = ?2")
  private static let saveReplica = FrequentStatement(
    """
    INSERT INTO replica VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT DO UPDATE SET refused = ?3, cursor_number = ?4, cursor_bits = ?5,
      newest_number = ?6, newest_bits = ?7, asked = ?8, mark = ?9
    """)

  private func save(_ replica: HubReplica, _ account: Int64) throws {
    try connection.run(Self.saveReplica) { bindings in
      try bindings.bind(account, at: 1)
      try bindings.bind(replica.id, at: 2)
      let numbers = [
        replica.refused, replica.cursor.number, replica.cursor.bits, replica.newest.number,
        replica.newest.bits, replica.asked,
      ]
      for (index, number) in numbers.enumerated() {
        try bindings.bind(number, at: Int32(index + 3))
      }
      try bindings.bind(replica.mark.map { .blob(Data($0)) } ?? .null, at: 9)
    }
  }

  /// Marks that can be dropped: not among the newest, and noted by no replica.
  private static let oldMarks = """
    FROM mark WHERE account = ?1 AND number < (
      SELECT number FROM mark WHERE account = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2 - 1)
    AND bits NOT IN (SELECT cursor_bits FROM replica WHERE account = ?1
      UNION ALL SELECT newest_bits FROM replica WHERE account = ?1)
    """

  private func trim(_ trim: HubTrim, _ account: Int64) throws {
    try connection.run(
      "DELETE FROM replica WHERE account = ?1 AND asked > 0 AND asked < ?2",
      [.integer(account), .integer(trim.silentSince)])
    try connection.run(
      """
      DELETE FROM replica WHERE account = ?1 AND id IN (
        SELECT id FROM replica WHERE account = ?1 ORDER BY asked DESC, id LIMIT -1 OFFSET ?2)
      """, [.integer(account), .integer(Int64(trim.replicas))])
    guard let marks = trim.marks else { return }
    let arguments: [Cell] = [.integer(account), .integer(Int64(marks))]
    try connection.run(
      """
      UPDATE account SET trimmed = max(trimmed, coalesce((SELECT max(number) \(Self.oldMarks)), 0))
      WHERE id = ?1
      """, arguments)
    try connection.run("DELETE \(Self.oldMarks)", arguments)
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

  private func changeInvitations(_ change: HubChange, _ account: Int64) throws {
    if change.dropsInvitations {
      try connection.run("DELETE FROM invitation WHERE account = ?1", [.integer(account)])
    }
    if let code = change.usedCode {
      try connection.run(
        "DELETE FROM invitation WHERE account = ?1 AND code = ?2",
        [.integer(account), .blob(Data(code))])
    }
    guard let invitation = change.invitation else { return }
    try connection.run(
      "DELETE FROM invitation WHERE account = ?1 AND ends <= ?2",
      [.integer(account), .integer(change.endedBy)])
    try connection.run(
      "INSERT INTO invitation (account, ends, code) VALUES (?1, ?2, ?3)",
      [.integer(account), .integer(invitation.ends), .blob(Data(invitation.codeHash))])
  }
}
