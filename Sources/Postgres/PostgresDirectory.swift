// SPDX-License-Identifier: Apache-2.0
//
// A transaction of the directory is serializable: of two that each decide by what the other one
// writes, one runs again. So nobody who has just been revoked comes back because somebody else
// saved what was read before.

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeValues

  final class PostgresDirectory: HubDirectory {
    private let connection: PostgresConnection
    private var hasBegun = false

    init(_ connection: PostgresConnection) { self.connection = connection }

    static let statements = [
      addMember, memberWithToken, membersOf, saveMember, removeMembers, addInvitation,
      takeInvitation, dropInvitations, removeInvitations,
    ]
    private static let columns =
      "id, account, name, token, created, last_use, replica, revoked, revoker"
    private static let addMember = Statement(
      "add_member",
      """
      INSERT INTO keepsake_member
        (account, name, token, created, last_use, replica, revoked, revoker)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id
      """)
    private static let memberWithToken = Statement(
      "member_with_token", "SELECT \(columns) FROM keepsake_member WHERE token = $1")
    private static let membersOf = Statement(
      "members_of", "SELECT \(columns) FROM keepsake_member WHERE account = $1 ORDER BY id")
    private static let saveMember = Statement(
      "save_member",
      """
      UPDATE keepsake_member SET account = $1, name = $2, token = $3, created = $4, last_use = $5,
        replica = $6, revoked = $7, revoker = $8
      WHERE id = $9
      """)
    private static let removeMembers = Statement(
      "remove_members", "DELETE FROM keepsake_member WHERE account = $1")
    private static let addInvitation = Statement(
      "add_invitation",
      "INSERT INTO keepsake_invitation (code, account, ends) VALUES ($1, $2, $3)")
    private static let takeInvitation = Statement(
      "take_invitation", "DELETE FROM keepsake_invitation WHERE code = $1 RETURNING account, ends")
    private static let dropInvitations = Statement(
      "drop_invitations", "DELETE FROM keepsake_invitation WHERE ends <= $1")
    private static let removeInvitations = Statement(
      "remove_invitations", "DELETE FROM keepsake_invitation WHERE account = $1")

    // MARK: - The transaction

    private func run(
      _ statement: Statement, _ parameters: Parameters
    ) throws -> PostgresResult {
      let begin = hasBegun ? [] : [Sent(.beginSerializable)]
      hasBegun = true
      let results = try connection.run(begin + [Sent(statement, parameters)])
      return results[results.count - 1]
    }

    func commit() throws {
      guard hasBegun else { return }
      // What was read is true of one moment only if the commit says so: others may have decided by
      // what this one has read.
      try connection.commit(after: [])
    }

    private func blob(_ bytes: [UInt8], _ more: Int64...) -> Parameters {
      var parameters = Parameters()
      parameters.append(bytes)
      for number in more { parameters.append(number) }
      return parameters
    }

    // MARK: - Accounts

    func addAccount(_ account: HubAccount, at now: Int64) throws -> Int64 {
      var parameters = Parameters()
      AccountTable.append(account, to: &parameters)
      parameters.append(now)
      return try run(AccountTable.add, parameters).number(0, 0)
    }

    func removeAccount(_ account: Int64) throws {
      _ = try run(AccountTable.lock, Parameters(account))
      let content = [
        PostgresTables.removeRows, PostgresTables.removeHeld, PostgresTables.removeSeen,
        PostgresTables.removeRevocations, PostgresTables.removePeers, Self.removeMembers,
        Self.removeInvitations, AccountTable.remove,
      ]
      for statement in content { _ = try run(statement, Parameters(account)) }
    }

    func accountCount() throws -> Int {
      Int(try run(AccountTable.count, Parameters()).number(0, 0))
    }

    // MARK: - Members

    private func parameters(_ member: HubMember) -> Parameters {
      var parameters = Parameters(member.account)
      parameters.append(member.name)
      parameters.append(member.tokenHash)
      for number in [
        member.created, member.lastUse, member.replica?.rawValue, member.revocation?.date,
        member.revocation?.member,
      ] { parameters.append(number) }
      return parameters
    }

    private func members(_ result: PostgresResult) -> [HubMember] {
      (0..<result.count).map { row in
        var member = HubMember(
          account: result.number(row, 1), name: result.text(row, 2),
          tokenHash: Array(result.bytes(row, 3)), created: result.number(row, 4))
        (member.number, member.lastUse) = (result.number(row, 0), result.number(row, 5))
        member.replica = result.optional(row, 6).map(ReplicaID.init)
        member.revocation = result.optional(row, 7).map {
          .init(date: $0, member: result.number(row, 8))
        }
        return member
      }
    }

    func addMember(_ member: HubMember) throws -> Int64 {
      try run(Self.addMember, parameters(member)).number(0, 0)
    }

    func member(withToken hash: [UInt8]) throws -> HubMember? {
      members(try run(Self.memberWithToken, blob(hash))).first
    }

    func members(of account: Int64) throws -> [HubMember] {
      members(try run(Self.membersOf, Parameters(account)))
    }

    func save(_ member: HubMember) throws {
      var parameters = parameters(member)
      parameters.append(member.number)
      _ = try run(Self.saveMember, parameters)
    }

    // MARK: - Invitations

    func addInvitation(_ invitation: HubInvitation) throws {
      _ = try run(
        Self.addInvitation, blob(invitation.codeHash, invitation.account, invitation.end))
    }

    func takeInvitation(withCode hash: [UInt8]) throws -> HubInvitation? {
      let result = try run(Self.takeInvitation, blob(hash))
      guard result.count == 1 else { return nil }
      return HubInvitation(
        account: result.number(0, 0), codeHash: hash, end: result.number(0, 1))
    }

    func dropInvitations(endedBy now: Int64) throws {
      _ = try run(Self.dropInvitations, Parameters(now))
    }

    func dropInvitations(to account: Int64) throws {
      _ = try run(Self.removeInvitations, Parameters(account))
    }
  }
#endif
