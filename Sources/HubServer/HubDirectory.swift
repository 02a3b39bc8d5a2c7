// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// Which accounts a hub has, and who may use them, within a transaction.
///
/// As `HubTables` it keeps, and decides nothing. It sees hashes of tokens and codes, never these.
package protocol HubDirectory {
  // MARK: - Accounts

  /// - Returns: the number of the account, which no other one gets later.
  func addAccount(_ account: HubAccount, at now: Int64) throws -> Int64
  /// Removes an account with all that belongs to it.
  func removeAccount(_ account: Int64) throws
  /// How many there are.
  func accountCount() throws -> Int

  // MARK: - Members

  /// - Returns: the number of the member, which no other one of the hub gets later.
  func addMember(_ member: HubMember) throws -> Int64
  func member(withToken hash: [UInt8]) throws -> HubMember?
  /// Those of an account, in the order of their numbers; revoked ones too.
  func members(of account: Int64) throws -> [HubMember]
  /// Replaces the member with the same number.
  func save(_ member: HubMember) throws

  // MARK: - Invitations

  func addInvitation(_ invitation: HubInvitation) throws
  /// Removes an invitation and returns it, as it may be used once.
  func takeInvitation(withCode hash: [UInt8]) throws -> HubInvitation?
  /// Drops those that have ended.
  func dropInvitations(endedBy now: Int64) throws
  func dropInvitations(to account: Int64) throws
}

/// A device that may use an account: one token.
package struct HubMember: Sendable, Equatable {
  /// 0 until the directory gives it one.
  package var number: Int64 = 0
  package var account: Int64
  /// What its user calls it.
  package var name: String
  /// SHA-256.
  package var tokenHash: [UInt8]
  /// These are milliseconds since 1970.
  package var created: Int64
  package var lastUse: Int64
  /// Under which replica ID it came last.
  package var replica: ReplicaID?
  package var revocation: Revocation?

  package struct Revocation: Sendable, Equatable {
    /// Milliseconds since 1970.
    package var date: Int64
    /// Which member of the account did it.
    package var member: Int64

    package init(date: Int64, member: Int64) { (self.date, self.member) = (date, member) }
  }

  package init(account: Int64, name: String, tokenHash: [UInt8], created: Int64) {
    (self.account, self.name, self.tokenHash) = (account, name, tokenHash)
    (self.created, lastUse) = (created, created)
  }
}

/// Lets one more device use an account.
package struct HubInvitation: Sendable, Equatable {
  package var account: Int64
  /// SHA-256.
  package var codeHash: [UInt8]
  /// Milliseconds since 1970 after which it is worth nothing.
  package var end: Int64

  package init(account: Int64, codeHash: [UInt8], end: Int64) {
    (self.account, self.codeHash, self.end) = (account, codeHash, end)
  }
}
