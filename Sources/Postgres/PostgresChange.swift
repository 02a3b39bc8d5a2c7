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
        forgetDevice, dropInvitation, saveInvitation, trimReplicas, trimMarks,
      ] + deletions

    private static let addAccount = Statement(
      "add_account",
      """
      INSERT INTO keepsake_account (\(PostgresQuery.accountColumns))
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      """)
    private static let saveAccount = Statement(
      "save_account",
      """
      UPDATE keepsake_account SET mark_number = $2, mark_bits = $3, mark_time = $4,
        forgotten = $5, rows = $6, bytes = $7, reserved_until = $8, reserved_by = $9
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
      "add_mark", "INSERT INTO keepsake_mark (account, number, time, bits) VALUES ($1, $2, $3, $4)")
    private static let saveVectors = Statement(
      "save_vectors",
      """
      INSERT INTO keepsake_vectors VALUES ($1, $2)
      ON CONFLICT (account) DO UPDATE SET body = excluded.body
      """)
    private static let saveReplica = Statement(
      "save_replica",
      """
      INSERT INTO keepsake_replica (account, number, id, mark) VALUES ($1, $2, $3, $4)
      ON CONFLICT (account, id) DO UPDATE SET number = $2, mark = $4
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
    private static let dropInvitation = Statement(
      "drop_invitation", "DELETE FROM keepsake_invitation WHERE account = $1")
    private static let saveInvitation = Statement(
      "save_invitation",
      """
      INSERT INTO keepsake_invitation (account, ends, code) VALUES ($1, $2, $3)
      ON CONFLICT (account) DO UPDATE SET ends = $2, code = $3
      """)
    private static let trimReplicas = Statement(
      "trim_replicas",
      """
      DELETE FROM keepsake_replica WHERE account = $1 AND id = ANY (ARRAY(
        SELECT id FROM keepsake_replica WHERE account = $1 ORDER BY number DESC, id
        OFFSET $2::bigint))
      """)
    /// Marks that are not among the newest.
    private static let trimMarks = Statement(
      "trim_marks",
      """
      DELETE FROM keepsake_mark WHERE account = $1 AND (
        time < $4 AND number < (
          SELECT number FROM keepsake_mark WHERE account = $1 ORDER BY number DESC
          LIMIT 1 OFFSET $2::bigint - 1)
        OR number < (
          SELECT number FROM keepsake_mark WHERE account = $1 ORDER BY number DESC
          LIMIT 1 OFFSET $3::bigint - 1))
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
        all.append(Sent(Self.addMark, Parameters(id, mark.number, mark.time, mark.bits)))
      }
      if let vectors = change.vectors {
        all.append(Sent(Self.saveVectors, Parameters(id, bytes: vectors)))
      }
      if let replica = change.replica { all.append(save(replica)) }
      if let device = change.device { all.append(save(device)) }
      if let number = change.forgottenDevice {
        all.append(Sent(Self.forgetDevice, Parameters(id, number)))
      }
      if change.dropsInvitation { all.append(Sent(Self.dropInvitation, Parameters(id))) }
      if let invitation = change.invitation {
        let parameters = Parameters(id, invitation.ends, bytes: invitation.codeHash)
        all.append(Sent(Self.saveInvitation, parameters))
      }
      if let kept = change.trim {
        all.append(Sent(Self.trimReplicas, Parameters(id, kept.replicas)))
        all.append(
          Sent(Self.trimMarks, Parameters(id, kept.marks, kept.marksOfDay, kept.day)))
      }
      return all
    }

    private func save(_ account: HubAccount) -> Sent {
      var parameters = Parameters(
        id, account.newest.number, account.newest.bits, account.newest.time, account.forgotten,
        account.rows, account.bytes, account.reservedUntil)
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
      var parameters = Parameters(id, replica.number)
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
  }
#endif
