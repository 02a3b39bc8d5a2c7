// SPDX-License-Identifier: Apache-2.0
//
// The statements of a hub's store, in the SQL that SQLite and PostgreSQL have in common. For the
// rows of a page each store has a statement of its own.

// MARK: - Reading

extension HubStatement {
  /// All statements that both stores have in common.
  package static let all =
    [
      account, device, devices, replica, mark, vectors, invitation, addAccount, saveAccount,
      addMark, putRow, forgetRow, dropVectors, addVectors, saveReplica, saveDevice, forgetDevice,
      dropInvitation, saveInvitation, trimReplicas, trimMarks,
    ] + deletions

  package static let account = HubStatement(
    "account",
    """
    SELECT id, mark_number, mark_bits, mark_time, forgotten, rows, bytes
    FROM keepsake_account WHERE id = $1
    """)
  fileprivate static let deviceColumns = "number, created, last_use, name, token"
  fileprivate static let device = HubStatement(
    "device", "SELECT \(deviceColumns) FROM keepsake_device WHERE account = $1 AND token = $2")
  fileprivate static let devices = HubStatement(
    "devices", "SELECT \(deviceColumns) FROM keepsake_device WHERE account = $1 ORDER BY number")
  fileprivate static let replica = HubStatement(
    "replica", "SELECT number, mark FROM keepsake_replica WHERE account = $1 AND id = $2")
  fileprivate static let mark = HubStatement(
    "mark", "SELECT number FROM keepsake_mark WHERE account = $1 AND number = $2 AND bits = $3")
  /// Outlines of the rows whose keys match a condition on `$2`, which differs between the stores.
  package static func outlines(_ condition: String) -> HubStatement {
    HubStatement(
      "outlines",
      """
      SELECT key, number, CAST(length(key) + length(body) AS bigint), is_deleted
      FROM keepsake_row WHERE account = $1 AND key \(condition)
      """)
  }
  /// Whether the mark `$2`, `$3` is not the newest one.
  package static let isNew = """
    NOT EXISTS (SELECT 1 FROM keepsake_account
      WHERE id = $1 AND mark_number = $2 AND mark_bits = $3)
    """
  fileprivate static let vectors = HubStatement(
    "vectors",
    """
    SELECT number, body FROM keepsake_vectors WHERE account = $1 AND number > $4 AND \(isNew)
    ORDER BY number
    """)
  fileprivate static let invitation = HubStatement(
    "invitation", "SELECT code, ends FROM keepsake_invitation WHERE account = $1")
}

extension HubQuery {
  /// Statements that read everything but the account, outlines and a page of rows.
  package var calls: [HubCall] {
    let id = HubCell.number(account)
    var calls: [HubCall] = []
    if let token { calls.append(HubCall(.device, id, .bytes(token))) }
    if readsDevices { calls += [HubCall(.devices, id), HubCall(.invitation, id)] }
    if let replica { calls.append(HubCall(.replica, id, .text(replica))) }
    for mark in marks { calls.append(HubCall(.mark, id, .number(mark.number), .number(mark.bits))) }
    if let page {
      let mark = page.unless ?? HubMark(number: -1, bits: 0)
      calls.append(
        HubCall(.vectors, id, .number(mark.number), .number(mark.bits), .number(page.cursor)))
    }
    return calls
  }
}

extension HubState {
  /// - Parameter results: the rows that the query's calls have returned, then outlines.
  package mutating func take(_ results: [[[HubCell]]], of query: HubQuery) {
    var results = results[...]
    func next() -> [[HubCell]] { results.popFirst() ?? [] }
    if query.token != nil { device = next().first.map { HubDevice($0) } }
    if query.readsDevices {
      devices = next().map { HubDevice($0) }
      invitation = next().first.map { HubInvitation(codeHash: $0[0].bytes, ends: $0[1].number) }
    }
    if let id = query.replica {
      replica = next().first.map { HubReplica(id: id, number: $0[0].number, mark: $0[1].bytes) }
    }
    for mark in query.marks { hasMarks.append(!next().isEmpty || mark.number == 0) }
    if query.page != nil {
      vectors = next().map { HubVectors(number: $0[0].number, body: $0[1].bytes) }
    }
    outlines = results.joined().map {
      HubRowOutline(
        key: $0[0].bytes, number: $0[1].number, size: $0[2].number, isDeleted: $0[3].number != 0)
    }
  }
}

extension HubAccount {
  package init(_ cells: [HubCell]) {
    self.init(id: cells[0].number)
    newest = HubMark(number: cells[1].number, bits: cells[2].number, time: cells[3].number)
    (forgotten, rows, bytes) = (cells[4].number, cells[5].number, cells[6].number)
  }
}

extension HubDevice {
  fileprivate init(_ cells: [HubCell]) {
    self.init(
      number: cells[0].number, name: cells[3].text, tokenHash: cells[4].bytes,
      created: cells[1].number)
    lastUse = cells[2].number
  }
}

// MARK: - Changing

extension HubStatement {
  /// Fails if the account exists: two processes may create it at once.
  fileprivate static let addAccount = HubStatement(
    "add_account",
    """
    INSERT INTO keepsake_account (id, mark_number, mark_bits, mark_time, forgotten, rows, bytes)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    """)
  fileprivate static let saveAccount = HubStatement(
    "save_account",
    """
    UPDATE keepsake_account SET mark_number = $2, mark_bits = $3, mark_time = $4,
      forgotten = $5, rows = $6, bytes = $7
    WHERE id = $1
    """)
  fileprivate static let addMark = HubStatement(
    "add_mark", "INSERT INTO keepsake_mark (account, number, time, bits) VALUES ($1, $2, $3, $4)")
  fileprivate static let putRow = HubStatement(
    "put_row",
    """
    INSERT INTO keepsake_row (account, number, is_deleted, key, body) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (account, key) DO UPDATE
      SET number = excluded.number, is_deleted = excluded.is_deleted, body = excluded.body
    """)
  fileprivate static let forgetRow = HubStatement(
    "forget_row", "DELETE FROM keepsake_row WHERE account = $1 AND key = $2")
  fileprivate static let dropVectors = HubStatement(
    "drop_vectors", "DELETE FROM keepsake_vectors WHERE account = $1 AND \(droppedVectors)")
  /// Vectors that a new push drops: up to number `$2`, and the oldest beyond `$3` and `$4` bytes.
  package static let droppedVectors = """
    (number <= $2 OR number IN (
      SELECT number FROM (
        SELECT number, count(*) OVER w AS place, sum(length(body)) OVER w AS size
        FROM keepsake_vectors WHERE account = $1 WINDOW w AS (ORDER BY number DESC)) AS v
      WHERE place > $3 OR size > $4))
    """
  fileprivate static let addVectors = HubStatement(
    "add_vectors", "INSERT INTO keepsake_vectors (account, number, body) VALUES ($1, $2, $3)")
  fileprivate static let saveReplica = HubStatement(
    "save_replica",
    """
    INSERT INTO keepsake_replica (account, number, id, mark) VALUES ($1, $2, $3, $4)
    ON CONFLICT (account, id) DO UPDATE SET number = excluded.number, mark = excluded.mark
    """)
  fileprivate static let saveDevice = HubStatement(
    "save_device",
    """
    INSERT INTO keepsake_device (account, number, created, last_use, name, token)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (account, number)
      DO UPDATE SET last_use = excluded.last_use, name = excluded.name
    """)
  fileprivate static let forgetDevice = HubStatement(
    "forget_device", "DELETE FROM keepsake_device WHERE account = $1 AND number = $2")
  fileprivate static let dropInvitation = HubStatement(
    "drop_invitation", "DELETE FROM keepsake_invitation WHERE account = $1")
  fileprivate static let saveInvitation = HubStatement(
    "save_invitation",
    """
    INSERT INTO keepsake_invitation (account, ends, code) VALUES ($1, $2, $3)
    ON CONFLICT (account) DO UPDATE SET ends = excluded.ends, code = excluded.code
    """)
  /// Each push has its own number, so no two replica IDs have the same.
  fileprivate static let trimReplicas = HubStatement(
    "trim_replicas",
    """
    DELETE FROM keepsake_replica WHERE account = $1 AND number < (
      SELECT number FROM keepsake_replica WHERE account = $1 ORDER BY number DESC
      LIMIT 1 OFFSET CAST($2 AS bigint) - 1)
    """)
  fileprivate static let trimMarks = HubStatement(
    "trim_marks",
    """
    DELETE FROM keepsake_mark WHERE account = $1 AND (
      time < $4 AND number < (
        SELECT number FROM keepsake_mark WHERE account = $1 ORDER BY number DESC
        LIMIT 1 OFFSET CAST($2 AS bigint) - 1)
      OR number < (
        SELECT number FROM keepsake_mark WHERE account = $1 ORDER BY number DESC
        LIMIT 1 OFFSET CAST($3 AS bigint) - 1))
    """)
  fileprivate static let deletions =
    ["row", "vectors", "mark", "replica", "device", "invitation"].map { table in
      HubStatement("delete_\(table)", "DELETE FROM keepsake_\(table) WHERE account = $1")
    } + [HubStatement("delete_account", "DELETE FROM keepsake_account WHERE id = $1")]
}

extension HubChange {
  /// Statements that change everything, the account first.
  package func calls(_ account: Int64) -> [HubCall] {
    let id = HubCell.number(account)
    guard !deletesAccount else { return HubStatement.deletions.map { HubCall($0, id) } }
    var calls: [HubCall] = []
    if let saved = self.account { calls.append(save(saved)) }
    if let mark {
      let (number, time, bits) = (mark.number, mark.time, mark.bits)
      calls.append(HubCall(.addMark, id, .number(number), .number(time), .number(bits)))
    }
    for row in rows {
      calls.append(
        HubCall(
          .putRow, id, .number(row.number), .number(row.isDeleted ? 1 : 0), .bytes(row.key),
          .bytes(row.body)))
    }
    for key in forgottenKeys { calls.append(HubCall(.forgetRow, id, .bytes(key))) }
    if let vectors {
      let most = HubCell.number(Int64(HubVectors.most - 1))
      calls.append(HubCall(.dropVectors, id, .number(vectors.read), most, .number(vectors.bytes)))
      calls.append(HubCall(.addVectors, id, .number(vectors.new.number), .bytes(vectors.new.body)))
    }
    if let replica {
      calls.append(
        HubCall(.saveReplica, id, .number(replica.number), .text(replica.id), .bytes(replica.mark)))
    }
    if let device { calls.append(save(device, id)) }
    if let forgottenDevice { calls.append(HubCall(.forgetDevice, id, .number(forgottenDevice))) }
    if dropsInvitation { calls.append(HubCall(.dropInvitation, id)) }
    if let invitation {
      calls.append(
        HubCall(.saveInvitation, id, .number(invitation.ends), .bytes(invitation.codeHash)))
    }
    if let (limits, day) = trim {
      func kept(_ count: Int) -> HubCell { .number(Int64(count)) }
      calls.append(HubCall(.trimReplicas, id, kept(limits.replicas)))
      calls.append(
        HubCall(.trimMarks, id, kept(limits.marks), kept(limits.marksOfDay), .number(day)))
    }
    return calls
  }

  private func save(_ account: HubAccount) -> HubCall {
    let newest = account.newest
    return HubCall(
      addsAccount ? .addAccount : .saveAccount, .number(account.id), .number(newest.number),
      .number(newest.bits), .number(newest.time), .number(account.forgotten),
      .number(account.rows), .number(account.bytes))
  }

  private func save(_ device: HubDevice, _ id: HubCell) -> HubCall {
    HubCall(
      .saveDevice, id, .number(device.number), .number(device.created), .number(device.lastUse),
      .text(device.name), .bytes(device.tokenHash))
  }
}
