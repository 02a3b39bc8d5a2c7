// SPDX-License-Identifier: Apache-2.0

import KeepsakeHubServer

/// What a hub in memory has of its accounts, and of who may use them.
struct MemoryDirectory: Sendable {
  var accounts: [Int64: MemoryHub.Content] = [:]
  private var members: [Int64: HubMember] = [:]
  private var invitations: [[UInt8]: HubInvitation] = [:]
  /// The last numbers that were given.
  private var (lastAccount, lastMember) = (Int64(0), Int64(0))

  final class Transaction: HubDirectory {
    var content: MemoryDirectory

    init(_ content: MemoryDirectory) { self.content = content }

    // MARK: - Accounts

    func addAccount(_ account: HubAccount, at now: Int64) -> Int64 {
      content.lastAccount += 1
      content.accounts[content.lastAccount] = MemoryHub.Content(account: account)
      return content.lastAccount
    }

    func removeAccount(_ account: Int64) {
      content.accounts[account] = nil
      content.members = content.members.filter { $0.value.account != account }
      dropInvitations(to: account)
    }

    func accountCount() -> Int { content.accounts.count }

    // MARK: - Members

    func addMember(_ member: HubMember) -> Int64 {
      content.lastMember += 1
      var member = member
      member.number = content.lastMember
      content.members[member.number] = member
      return member.number
    }

    func member(withToken hash: [UInt8]) -> HubMember? {
      content.members.values.first { $0.tokenHash == hash }
    }

    func members(of account: Int64) -> [HubMember] {
      content.members.values.filter { $0.account == account }.sorted { $0.number < $1.number }
    }

    func save(_ member: HubMember) { content.members[member.number] = member }

    // MARK: - Invitations

    func addInvitation(_ invitation: HubInvitation) {
      content.invitations[invitation.codeHash] = invitation
    }

    func takeInvitation(withCode hash: [UInt8]) -> HubInvitation? {
      content.invitations.removeValue(forKey: hash)
    }

    func dropInvitations(endedBy now: Int64) {
      content.invitations = content.invitations.filter { $0.value.end > now }
    }

    func dropInvitations(to account: Int64) {
      content.invitations = content.invitations.filter { $0.value.account != account }
    }
  }
}
