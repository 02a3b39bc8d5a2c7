// SPDX-License-Identifier: Apache-2.0
//
// Tokens and codes are 32 random bytes. Only their hashes reach this module, so a stolen database
// gives no access.

/// Decides which devices may use an account.
package struct AccountRules: Sendable {
  /// How long a code is valid, in milliseconds.
  private static let invitationLife: Int64 = 600_000
  /// The maximum difference between the clocks of two processes of a hub, in milliseconds.
  private static let clockDifference: Int64 = 60_000
  /// The precision of a device's last use, in milliseconds. With a finer one a million accounts
  /// would write more dates than rows.
  private static let useGrain: Int64 = 86_400_000

  private let limits: HubLimits
  private let now: Int64

  package init(_ limits: HubLimits, at now: Int64) { (self.limits, self.now) = (limits, now) }

  /// The account, if the query's token is valid.
  static func account(_ state: HubState) throws -> HubAccount {
    guard let account = state.account, state.device != nil else { throw HubRefusal.token }
    return account
  }

  private func query(
    _ account: Int64, _ token: [UInt8], isWriting: Bool = true, readsDevices: Bool = false
  ) -> HubQuery {
    var query = HubQuery(account, isWriting: isWriting)
    (query.token, query.readsDevices) = (token, readsDevices)
    return query
  }

  // MARK: - Joining

  /// Creates an account with its first device.
  ///
  /// - Returns: the device's number, and whether it is new: a device may repeat the request.
  package func create(
    _ account: Int64, name: String, token: [UInt8]
  ) -> HubWork<(number: Int64, isNew: Bool)> {
    HubWork(query(account, token)) { [limits, now] state in
      if let device = state.device { return ((device.number, false), nil) }
      guard state.account == nil else { throw HubRefusal.taken }
      try Self.checkName(name, limits)
      var change = HubChange()
      (change.account, change.addsAccount) = (HubAccount(id: account), true)
      change.device = HubDevice(number: 1, name: name, tokenHash: token, created: now)
      return ((1, true), change)
    }
  }

  /// Adds a device by a code, which is then used up. A device that did not get the answer repeats
  /// the request with the same token.
  package func join(
    _ account: Int64, code: [UInt8], name: String, token: [UInt8]
  ) -> HubWork<(number: Int64, isNew: Bool)> {
    HubWork(query(account, token, readsDevices: true)) { [limits, now] state in
      if let device = state.device { return ((device.number, false), nil) }
      guard state.account != nil, let invitation = state.invitation,
        invitation.codeHash == code, now < invitation.ends,
        // A code that is valid for longer was made before the clock was set back.
        invitation.ends - now <= Self.invitationLife + Self.clockDifference
      else { throw HubRefusal.code }
      try Self.checkName(name, limits)
      guard state.devices.count < limits.devices else {
        throw HubRefusal.full(limit: "devices", limits.devices)
      }
      let number = (state.devices.map(\.number).max() ?? 0) + 1
      var change = HubChange()
      change.device = HubDevice(number: number, name: name, tokenHash: token, created: now)
      change.dropsInvitation = true
      return ((number, true), change)
    }
  }

  private static func checkName(_ name: String, _ limits: HubLimits) throws {
    guard name.utf8.count <= limits.nameBytes else {
      throw HubRefusal.tooLarge(limit: "nameBytes", limits.nameBytes)
    }
    guard !name.isEmpty,
      name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw HubRefusal.malformed("a name is empty, or has control characters") }
  }

  /// Makes a code for one device. It replaces the account's code before.
  ///
  /// - Returns: when the code expires.
  package func invite(_ account: Int64, token: [UInt8], code: [UInt8]) -> HubWork<Int64> {
    HubWork(query(account, token)) { [now] state in
      _ = try Self.account(state)
      var change = HubChange()
      let ends = now + Self.invitationLife
      change.invitation = HubInvitation(codeHash: code, ends: ends)
      return (ends, change)
    }
  }

  // MARK: - Devices

  /// Checks a token.
  ///
  /// - Returns: the newest mark, and whether `noteUse` is due: only that locks the account.
  package func authenticate(
    _ account: Int64, token: [UInt8]
  ) -> HubWork<(newest: HubMark, isUseDue: Bool)> {
    HubWork(query(account, token, isWriting: false)) { [now] state in
      ((try Self.account(state).newest, Self.isUseDue(of: state.device, at: now)), nil)
    }
  }

  private static func isUseDue(of device: HubDevice?, at now: Int64) -> Bool {
    device.map { abs(now - $0.lastUse) >= useGrain } ?? false
  }

  /// Stores the date of a device's use, at most once a day.
  package func noteUse(_ account: Int64, token: [UInt8]) -> HubWork<Void> {
    HubWork(query(account, token)) { [now] state in
      guard var device = state.device, Self.isUseDue(of: device, at: now) else { return ((), nil) }
      var change = HubChange()
      device.lastUse = now
      change.device = device
      return ((), change)
    }
  }

  package func list(
    _ account: Int64, token: [UInt8]
  ) -> HubWork<(devices: [HubDevice], own: Int64)> {
    HubWork(query(account, token, isWriting: false, readsDevices: true)) { state in
      _ = try Self.account(state)
      return ((state.devices.sorted { $0.number < $1.number }, state.device?.number ?? 0), nil)
    }
  }

  package func rename(
    _ account: Int64, token: [UInt8], device: Int64, to name: String
  ) -> HubWork<Void> {
    change(account, token, device) { [limits] found, change in
      try Self.checkName(name, limits)
      change.device = found
      change.device?.name = name
    }
  }

  /// Revokes a device's token, and the account's code, which the device may have made.
  package func revoke(_ account: Int64, token: [UInt8], device: Int64) -> HubWork<Void> {
    change(account, token, device) { found, change in
      (change.forgottenDevice, change.dropsInvitation) = (found.number, true)
    }
  }

  private func change(
    _ account: Int64, _ token: [UInt8], _ number: Int64,
    _ body: @escaping @Sendable (HubDevice, inout HubChange) throws -> Void
  ) -> HubWork<Void> {
    HubWork(query(account, token, readsDevices: true)) { state in
      _ = try Self.account(state)
      guard let found = state.devices.first(where: { $0.number == number }) else {
        throw HubRefusal.path("the account has no device \(number)")
      }
      var change = HubChange()
      try body(found, &change)
      return ((), change)
    }
  }

  /// Deletes the account with all that belongs to it.
  package func delete(_ account: Int64, token: [UInt8]) -> HubWork<Void> {
    HubWork(query(account, token)) { state in
      _ = try Self.account(state)
      var change = HubChange()
      change.deletesAccount = true
      return ((), change)
    }
  }
}
