// SPDX-License-Identifier: Apache-2.0
//
// What a transaction changes: statements that go in one round trip with the commit.

#if PostgreSQL
  import KeepsakeHubServer

  struct PostgresChange {
    let id: Int64
    let change: HubChange

    static let statements =
      [
        addAccount, saveAccount, putRows, forgetRows, addMark, saveVectors, saveReplica, saveDevice,
        forgetDevice,
        dropInvitations, dropCode, dropEnded, addInvitation, trimSilent, trimReplicas, trimMarks,
      ] + deletions

    private static let addAccount = Statement(
      "add_account",
      """
      INSERT INTO keepsake_account (\(PostgresQuery.accountColumns))
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      """)
    private static let saveAccount = Statement(
      "save_account",
      """
      UPDATE keepsake_account SET number = $2, mark_number = $3, mark_bits = $4, mark_time = $5,
        trimmed = $6, forgotten = $7, untrimmed = $8, rows = $9, bytes = $10, reserved_until = $11,
        reserved_by = $12
      WHERE id = $1
      """)
    private static let putRows = Statement(
      "put_rows",
      """
      INSERT INTO keepsake_row (account, number, is_deleted, key, body)
      SELECT $1, r.* FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[]) AS r
      ON CONFLICT (account, key) DO UPDATE
        SET number = excluded.number, is_deleted = excluded.is_deleted, body = excluded.body
      """)
    private static let forgetRows = Statement(
      "forget_rows", "DELETE FROM keepsake_row WHERE account = $1 AND key = ANY ($2::bytea[])")
    private static let addMark = Statement(
      "add_mark", "INSERT INTO keepsake_mark (account, number, bits) VALUES ($1, $2, $3)")
    private static let saveVectors = Statement(
      "save_vectors",
      """
      INSERT INTO keepsake_vectors VALUES ($1, $2)
      ON CONFLICT (account) DO UPDATE SET body = excluded.body
      """)
    private static let saveReplica = Statement(
      "save_replica",
      """
      INSERT INTO keepsake_replica (account, refused, cursor_number, cursor_bits, newest_number,
        newest_bits, asked, id, mark)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      ON CONFLICT (account, id) DO UPDATE SET refused = $2, cursor_number = $3, cursor_bits = $4,
        newest_number = $5, newest_bits = $6, asked = $7, mark = $9
      """)
    private static let saveDevice = Statement(
      "save_device",
      """
      INSERT INTO keepsake_device
        (account, number, created, last_use, revoked, revoker, name, token)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (account, number) DO UPDATE
        SET last_use = $4, revoked = $5, revoker = $6, name = $7
      """)
    private static let forgetDevice = Statement(
      "forget_device", "DELETE FROM keepsake_device WHERE account = $1 AND number = $2")
    private static let dropInvitations = Statement(
      "drop_invitations", "DELETE FROM keepsake_invitation WHERE account = $1")
    private static let dropCode = Statement(
      "drop_code", "DELETE FROM keepsake_invitation WHERE account = $1 AND code = $2")
    private static let dropEnded = Statement(
      "drop_ended", "DELETE FROM keepsake_invitation WHERE account = $1 AND ends <= $2")
    private static let addInvitation = Statement(
      "add_invitation",
      "INSERT INTO keepsake_invitation (account, ends, code) VALUES ($1, $2, $3)")
    private static let trimSilent = Statement(
      "trim_silent",
      "DELETE FROM keepsake_replica WHERE account = $1 AND asked > 0 AND asked < $2")
    private static let trimReplicas = Statement(
      "trim_replicas",
      """
      DELETE FROM keepsake_replica WHERE account = $1 AND id = ANY (ARRAY(
        SELECT id FROM keepsake_replica WHERE account = $1 ORDER BY asked DESC, id
        OFFSET $2::bigint))
      """)
    /// Marks that are not among the newest, and that no replica has noted.
    private static let trimMarks = Statement(
      "trim_marks",
      """
      WITH old AS (
        DELETE FROM keepsake_mark WHERE account = $1 AND number < (
          SELECT number FROM keepsake_mark WHERE account = $1 ORDER BY number DESC
          LIMIT 1 OFFSET $2::bigint - 1)
        AND bits NOT IN (
          SELECT unnest(ARRAY[cursor_bits, newest_bits]) FROM keepsake_replica WHERE account = $1)
        RETURNING number)
      UPDATE keepsake_account SET trimmed = greatest(trimmed, (SELECT max(number) FROM old))
      WHERE id = $1
      """)
    private static let deletions =
      [
        "row", "vectors", "mark", "replica", "device", "invitation",
      ].map { table in
        Statement("delete_\(table)", "DELETE FROM keepsake_\(table) WHERE account = $1")
      } + [Statement("delete_account", "DELETE FROM keepsake_account WHERE id = $1")]

    var statements: [Sent] {
      guard !change.deletesAccount else { return Self.deletions.map { Sent($0, Parameters(id)) } }
      var all: [Sent] = []
      if let account = change.account { all.append(save(account)) }
      if !change.rows.isEmpty { all.append(put(change.rows)) }
      if !change.forgottenKeys.isEmpty {
        var parameters = Parameters(id)
        parameters.append(blobs: change.forgottenKeys)
        all.append(Sent(Self.forgetRows, parameters))
      }
      if let mark = change.mark {
        all.append(Sent(Self.addMark, Parameters(id, mark.number, mark.bits)))
      }
      if let vectors = change.vectors {
        all.append(Sent(Self.saveVectors, Parameters(id, bytes: vectors)))
      }
      if let replica = change.replica { all.append(save(replica)) }
      if let device = change.device { all.append(save(device)) }
      if let number = change.forgottenDevice {
        all.append(Sent(Self.forgetDevice, Parameters(id, number)))
      }
      all += invitations
      if let trim = change.trim {
        all.append(Sent(Self.trimSilent, Parameters(id, trim.silentSince)))
        all.append(Sent(Self.trimReplicas, Parameters(id, Int64(trim.replicas))))
        if let marks = trim.marks {
          all.append(Sent(Self.trimMarks, Parameters(id, Int64(marks))))
        }
      }
      return all
    }

    private func save(_ account: HubAccount) -> Sent {
      var parameters = Parameters(
        id, account.number, account.newest.number, account.newest.bits, account.newest.time,
        account.trimmed, account.forgotten, account.untrimmed, account.rows, account.bytes,
        account.reservedUntil)
      parameters.append(account.reservedBy)
      return Sent(change.addsAccount ? Self.addAccount : Self.saveAccount, parameters)
    }

    private func put(_ rows: [HubRow]) -> Sent {
      var parameters = Parameters(id)
      parameters.append(numbers: rows.map(\.number))
      parameters.append(numbers: rows.map { $0.isDeleted ? 1 : 0 })
      parameters.append(blobs: rows.map(\.key))
      parameters.append(blobs: rows.map(\.body))
      return Sent(Self.putRows, parameters)
    }

    private func save(_ replica: HubReplica) -> Sent {
      var parameters = Parameters(
        id, replica.refused, replica.cursor.number, replica.cursor.bits, replica.newest.number,
        replica.newest.bits, replica.asked)
      parameters.append(replica.id)
      parameters.append(replica.mark)
      return Sent(Self.saveReplica, parameters)
    }

    private func save(_ device: HubDevice) -> Sent {
      var parameters = Parameters(id, device.number, device.created, device.lastUse)
      parameters.append(device.revoked)
      parameters.append(device.revoker)
      parameters.append(device.name)
      parameters.append(device.tokenHash)
      return Sent(Self.saveDevice, parameters)
    }

    private var invitations: [Sent] {
      var all: [Sent] = []
      if change.dropsInvitations { all.append(Sent(Self.dropInvitations, Parameters(id))) }
      if let code = change.usedCode { all.append(Sent(Self.dropCode, Parameters(id, bytes: code))) }
      if let invitation = change.invitation {
        all.append(Sent(Self.dropEnded, Parameters(id, change.endedBy)))
        all.append(
          Sent(Self.addInvitation, Parameters(id, invitation.ends, bytes: invitation.codeHash)))
      }
      return all
    }
  }
#endif
