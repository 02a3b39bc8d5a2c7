// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeHubServer
import KeepsakeValues
import Testing

@Suite struct HubAccountsTests {
  private let database = MemoryDatabase()

  private func on<Result: Sendable>(
    _ now: Int64 = 0, devices: Int = 64,
    _ work: @escaping @Sendable (HubAccounts) throws -> Result
  ) async throws -> Result {
    try await database.onDirectory { try work(HubAccounts($0, at: now, devices: devices)) }
  }

  private func create(_ token: UInt8) async throws -> HubMember {
    try await on { try $0.create(ReplicaID(rawValue: 7), name: "phone", token: [token]) }
  }

  @Test func anInvitationCountsOnceAndForTenMinutes() async throws {
    let phone = try await create(1)
    let end = try await on(5) { try $0.invite(by: phone, code: [50]) }
    #expect(end == 600_005)
    await #expect(throws: HubAccounts.Refusal.invitation) {
      try await on(end) { try $0.join(code: [50], name: "late", token: [2]) }
    }
    let laptop = try await on(end - 1) { try $0.join(code: [50], name: "laptop", token: [2]) }
    #expect(laptop.account == phone.account && laptop.number != phone.number)
    await #expect(throws: HubAccounts.Refusal.invitation) {
      try await on(end - 1) { try $0.join(code: [50], name: "again", token: [3]) }
    }
    #expect(try await on { try $0.list(for: phone).map(\.name) } == ["phone", "laptop"])
  }

  @Test func aRevokedTokenTellsWhoRevokedItAndWhen() async throws {
    let phone = try await create(1)
    _ = try await on { try $0.invite(by: phone, code: [50]) }
    let laptop = try await on { try $0.join(code: [50], name: "laptop", token: [2]) }
    #expect(try await on { try $0.authenticate([2]) } == laptop)
    _ = try await on(9) { try $0.revoke(phone.number, by: laptop) }
    _ = try await on(10) { try $0.revoke(phone.number, by: laptop) }
    await #expect(
      throws: HubAccounts.Refusal.revoked(.init(date: 9, member: laptop.number))
    ) { try await on { try $0.authenticate([1]) } }
    await #expect(throws: HubAccounts.Refusal.token) {
      try await on { try $0.authenticate([3]) }
    }
  }

  @Test func aRevokedDevicesReplicaIDIsToldUnlessAnotherTokenComesUnderIt() async throws {
    let (phone, replica) = (try await create(1), ReplicaID(rawValue: 9))
    _ = try await on { try $0.invite(by: phone, code: [50]) }
    let laptop = try await on { try $0.join(code: [50], name: "laptop", token: [2]) }
    for member in [phone, laptop] { try await on { try $0.note(replica, of: member) } }
    #expect(try await on { try $0.revoke(phone.number, by: laptop) } == nil)
    #expect(try await on { try $0.revoke(laptop.number, by: laptop) } == replica)
  }

  @Test func whatARevokedDeviceHasBegunDoesNothing() async throws {
    let phone = try await create(1)
    _ = try await on { try $0.invite(by: phone, code: [50]) }
    let laptop = try await on { try $0.join(code: [50], name: "laptop", token: [2]) }
    _ = try await on { try $0.invite(by: laptop, code: [51]) }
    _ = try await on(9) { try $0.revoke(laptop.number, by: phone) }
    let refusal = HubAccounts.Refusal.revoked(.init(date: 9, member: phone.number))
    await #expect(throws: refusal) {
      try await on { try $0.note(ReplicaID(rawValue: 9), of: laptop) }
    }
    await #expect(throws: refusal) {
      try await on { _ = try $0.invite(by: laptop, code: [52]) }
    }
    await #expect(throws: refusal) {
      try await on { _ = try $0.revoke(phone.number, by: laptop) }
    }
    await #expect(throws: refusal) { try await on { try $0.delete(by: laptop) } }
    // Whoever made them: nobody remembers.
    await #expect(throws: HubAccounts.Refusal.invitation) {
      try await on { try $0.join(code: [51], name: "again", token: [3]) }
    }
    let all = try await on { try $0.list(for: phone) }
    #expect(all.map { $0.revocation?.date } == [nil, 9])
  }

  @Test func aClockThatWasSetBackProlongsNoInvitation() async throws {
    let phone = try await create(1)
    _ = try await on(10_000_000) { try $0.invite(by: phone, code: [50]) }
    await #expect(throws: HubAccounts.Refusal.invitation) {
      try await on(9_939_999) { try $0.join(code: [50], name: "laptop", token: [2]) }
    }
    // Clocks of two processes differ by as much.
    _ = try await on(9_940_000) { try $0.join(code: [50], name: "laptop", token: [2]) }
  }

  @Test func aDeviceOfAnotherAccountIsNotThere() async throws {
    let (mine, theirs) = (try await create(1), try await create(2))
    await #expect(throws: HubAccounts.Refusal.noDevice(theirs.number)) {
      try await on { try $0.revoke(theirs.number, by: mine) }
    }
    await #expect(throws: HubAccounts.Refusal.noDevice(theirs.number)) {
      try await on { _ = try $0.device(theirs.number, for: mine) }
    }
    try await on { try $0.delete(by: mine) }
    await #expect(throws: HubAccounts.Refusal.token) { try await on { try $0.authenticate([1]) } }
    await #expect(throws: HubDatabaseError.noAccount) {
      try await database.onAccount(mine.account) { try $0.account.seq }
    }
    #expect(try await on { try $0.authenticate([2]) } == theirs)
  }

  @Test func anAccountHasAsManyDevicesAsItMay() async throws {
    let phone = try await create(1)
    _ = try await on { try $0.invite(by: phone, code: [50]) }
    await #expect(throws: HubAccounts.Refusal.full(limit: 1)) {
      try await on(devices: 1) { try $0.join(code: [50], name: "laptop", token: [2]) }
    }
    // What is refused is undone: the invitation counts still.
    let laptop = try await on(devices: 2) { try $0.join(code: [50], name: "laptop", token: [2]) }
    _ = try await on { try $0.revoke(phone.number, by: laptop) }
    _ = try await on { try $0.invite(by: laptop, code: [51]) }
    _ = try await on(devices: 2) { try $0.join(code: [51], name: "tablet", token: [3]) }
  }

  @Test(arguments: ["", "a\nb", String(repeating: "a", count: HubAccounts.nameLimit + 1)])
  func aNameThatCannotBeShownIsRefused(name: String) async throws {
    await #expect(throws: HubAccounts.Refusal.name) {
      try await on { try $0.create(ReplicaID(rawValue: 7), name: name, token: [1]) }
    }
    #expect(try await database.onDirectory { try $0.accountCount() } == 0)
  }

  @Test func theLastUseAndTheReplicaAreNoted() async throws {
    let phone = try await create(1)
    #expect(try await on(599_999) { try $0.authenticate([1]) }.lastUse == 0)
    #expect(try await on(600_000) { try $0.authenticate([1]) }.lastUse == 600_000)
    // A clock that was ahead is right again.
    #expect(try await on(1) { try $0.authenticate([1]) }.lastUse == 600_000)
    #expect(try await on(0) { try $0.authenticate([1]) }.lastUse == 0)
    try await on { try $0.note(ReplicaID(rawValue: 9), of: phone) }
    #expect(try await on { try $0.device(phone.number, for: phone) }.replica?.rawValue == 9)
  }

  @Test func whatThrowsIsUndoneAndOnlyRowsAreNews() async throws {
    struct Refused: Error {}
    let phone = try await create(1)
    let (news, continuation) = AsyncStream.makeStream(of: Int64.self)
    database.observe { _, seq in continuation.yield(seq) }
    await #expect(throws: Refused.self) {
      try await database.onAccount(phone.account) { tables in
        var account = try tables.account
        account.seq = 5
        try tables.save(account)
        throw Refused()
      }
    }
    for seq: Int64 in [0, 2] {
      try await database.onAccount(phone.account) { tables in
        var account = try tables.account
        #expect(account.seq == 0)
        account.seq = seq
        try tables.save(account)
      }
    }
    database.close()
    continuation.finish()
    #expect(await news.reduce(into: []) { $0.append($1) } == [2])
    await #expect(throws: HubDatabaseError.unavailable("the hub ends")) {
      try await database.onDirectory { try $0.accountCount() }
    }
  }
}
