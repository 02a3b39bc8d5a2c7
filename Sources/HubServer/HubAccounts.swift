// SPDX-License-Identifier: Apache-2.0
//
// Who may use an account. Tokens and codes come as their hashes, made of 32 random bytes outside:
// who reads a hub's database cannot use what it finds there.

package import KeepsakeValues

/// The rules of a hub's directory, within one transaction.
package struct HubAccounts {
  /// What a request is refused for; then nothing has changed.
  package enum Refusal: Error, Equatable {
    /// No device has this token.
    case token
    /// A device of the account has revoked this one.
    case revoked(HubMember.Revocation)
    /// There is no such invitation, or it was used, or has ended.
    case invitation
    /// The account has no device with this number.
    case noDevice(Int64)
    /// The account has as many devices as it may, or the hub as many accounts.
    case full(limit: Int)
    /// The name is empty, longer than `nameLimit`, or has control characters.
    case name
  }

  /// Bytes of a device's name.
  package static let nameLimit = 200
  /// Milliseconds for which an invitation counts.
  private static let invitationLife: Int64 = 600_000
  /// By how much the clocks of two processes of the hub may differ.
  private static let clockDifference: Int64 = 60_000
  /// The date of a device's last use is that exact, in milliseconds: writing it each time would
  /// make each request wait for the disk.
  private static let useGrain: Int64 = 600_000

  private let directory: any HubDirectory
  /// Milliseconds since 1970.
  private let now: Int64
  /// How many devices an account may have that are not revoked.
  private let devices: Int

  package init(_ directory: any HubDirectory, at now: Int64, devices: Int = 64) {
    (self.directory, self.now, self.devices) = (directory, now, devices)
  }

  /// Makes an account with its first device.
  ///
  /// - Parameters:
  ///   - hub: the random identity under which devices meet the account.
  ///   - limit: how many accounts there may be.
  package func create(
    _ hub: ReplicaID, name: String, token hash: [UInt8], limit: Int = .max
  ) throws -> HubMember {
    try check(name)
    guard try directory.accountCount() < limit else { throw Refusal.full(limit: limit) }
    let account = try directory.addAccount(HubAccount(hub: hub), at: now)
    return try add(name, hash, to: account)
  }

  private func add(_ name: String, _ hash: [UInt8], to account: Int64) throws -> HubMember {
    var member = HubMember(account: account, name: name, tokenHash: hash, created: now)
    member.number = try directory.addMember(member)
    return member
  }

  private func check(_ name: String) throws {
    guard !name.isEmpty, name.utf8.count <= Self.nameLimit,
      name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw Refusal.name }
  }

  // MARK: - Invitations

  /// - Returns: when the invitation ends, in milliseconds since 1970.
  package func invite(by member: HubMember, code hash: [UInt8]) throws -> Int64 {
    _ = try authenticate(member.tokenHash)
    try directory.dropInvitations(endedBy: now)
    let end = now + Self.invitationLife
    try directory.addInvitation(HubInvitation(account: member.account, codeHash: hash, end: end))
    return end
  }

  package func join(code: [UInt8], name: String, token hash: [UInt8]) throws -> HubMember {
    try check(name)
    guard let invitation = try directory.takeInvitation(withCode: code), now < invitation.end,
      // An invitation that ends later than one made now was made before the clock was set back.
      invitation.end - now <= Self.invitationLife + Self.clockDifference
    else { throw Refusal.invitation }
    let active = try directory.members(of: invitation.account).count { $0.revocation == nil }
    guard active < devices else { throw Refusal.full(limit: devices) }
    return try add(name, hash, to: invitation.account)
  }

  // MARK: - Devices

  /// Who has a token. What is done for somebody who was found in another transaction asks again: a
  /// device may have been revoked since.
  package func authenticate(_ hash: [UInt8]) throws -> HubMember {
    guard var member = try directory.member(withToken: hash) else { throw Refusal.token }
    if let revocation = member.revocation { throw Refusal.revoked(revocation) }
    // Or a clock that was ahead has dated it.
    if abs(now - member.lastUse) >= Self.useGrain {
      member.lastUse = now
      try directory.save(member)
    }
    return member
  }

  /// Notes under which replica ID a device comes, if it may still come.
  package func note(_ replica: ReplicaID, of member: HubMember) throws {
    var member = try authenticate(member.tokenHash)
    guard member.replica != replica else { return }
    member.replica = replica
    try directory.save(member)
  }

  package func list(for member: HubMember) throws -> [HubMember] {
    try directory.members(of: member.account)
  }

  /// A device of the same account, by its number.
  package func device(_ number: Int64, for member: HubMember) throws -> HubMember {
    let all = try directory.members(of: member.account)
    guard let found = all.first(where: { $0.number == number }) else {
      throw Refusal.noDevice(number)
    }
    return found
  }

  /// Makes a device's token worth nothing, and the account's invitations, as the device may have
  /// made them. Who was revoked before stays so, by whom it was.
  ///
  /// - Returns: the replica ID under which it came, unless one with another token comes under it.
  @discardableResult
  package func revoke(_ number: Int64, by member: HubMember) throws -> ReplicaID? {
    _ = try authenticate(member.tokenHash)
    var device = try device(number, for: member)
    if device.revocation == nil {
      device.revocation = HubMember.Revocation(date: now, member: member.number)
      try directory.save(device)
      try directory.dropInvitations(to: device.account)
    }
    let isElsewhere = try directory.members(of: member.account).contains {
      $0.replica == device.replica && $0.revocation == nil
    }
    return isElsewhere ? nil : device.replica
  }

  /// Removes the member's account with all that belongs to it.
  package func delete(by member: HubMember) throws {
    _ = try authenticate(member.tokenHash)
    try directory.removeAccount(member.account)
  }
}
