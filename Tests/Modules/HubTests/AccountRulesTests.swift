// SPDX-License-Identifier: Apache-2.0

import HubStoreSupport
import KeepsakeHubServer
import Testing

@Suite struct AccountRulesTests {
  private let store = MemoryStore()
  private static let phone: [UInt8] = [1]
  private static let laptop: [UInt8] = [2]

  private func rules(_ now: Int64 = 0, devices: Int = 64) -> AccountRules {
    var limits = HubLimits()
    limits.devices = devices
    return AccountRules(limits, at: now)
  }

  private func create(_ id: Int64 = 7) async throws {
    _ = try await store.run(rules().create(id, name: "phone", token: Self.phone))
  }

  private func invite(_ code: [UInt8] = [50], at now: Int64 = 0) async throws -> Int64 {
    try await store.run(rules(now).invite(7, token: Self.phone, code: code))
  }

  private func join(
    _ token: [UInt8], code: [UInt8] = [50], at now: Int64 = 0, devices: Int = 64
  ) async throws -> (number: Int64, isNew: Bool) {
    try await store.run(
      rules(now, devices: devices).join(7, code: code, name: "laptop", token: token))
  }

  private func devices() async throws -> [HubDevice] {
    try await store.run(rules().list(7, token: Self.phone)).devices
  }

  @Test func aCodeIsUsedUpWhenItsDeviceHasJoinedAndTheSameTokenMayComeAgain() async throws {
    try await create()
    let ends = try await invite(at: 5)
    #expect(ends == 600_005)
    await #expect(throws: HubRefusal.code) { try await join(Self.laptop, at: ends) }
    #expect(try await join(Self.laptop, at: ends - 1) == (2, true))
    #expect(try await join(Self.laptop, at: ends + 1) == (2, false))
    await #expect(throws: HubRefusal.code) { try await join([3], at: ends - 1) }
    #expect(try await devices().map(\.name) == ["phone", "laptop"])
  }

  @Test func anAccountIsMadeOnceByTheSameTokenAndNotByAnother() async throws {
    try await create()
    let again = try await store.run(rules().create(7, name: "phone", token: Self.phone))
    #expect(again == (1, false))
    await #expect(throws: HubRefusal.taken) {
      try await store.run(rules().create(7, name: "other", token: [9]))
    }
  }

  @Test func aRevokedTokenAndTheCodesOfItsAccountAreWorthless() async throws {
    try await create()
    _ = try await invite()
    _ = try await join(Self.laptop)
    _ = try await store.run(rules().invite(7, token: Self.laptop, code: [51]))
    try await store.run(rules().revoke(7, token: Self.phone, device: 2))
    let refusal = HubRefusal.token
    await #expect(throws: refusal) {
      try await store.run(rules().authenticate(7, token: Self.laptop))
    }
    await #expect(throws: refusal) {
      try await store.run(rules().revoke(7, token: Self.laptop, device: 1))
    }
    await #expect(throws: refusal) { try await store.run(rules().delete(7, token: Self.laptop)) }
    await #expect(throws: HubRefusal.code) { _ = try await join([3], code: [51]) }
    await #expect(throws: HubRefusal.code) { _ = try await join(Self.laptop, code: [51]) }
    #expect(try await devices().map(\.number) == [1])
  }

  @Test func anAccountHasOneCodeAtATime() async throws {
    try await create()
    _ = try await invite([50])
    _ = try await invite([51])
    await #expect(throws: HubRefusal.code) { try await join(Self.laptop, code: [50]) }
    #expect(try await join(Self.laptop, code: [51]) == (2, true))
  }

  @Test func aClockThatWasSetBackProlongsNoCode() async throws {
    try await create()
    _ = try await invite(at: 10_000_000)
    await #expect(throws: HubRefusal.code) { try await join(Self.laptop, at: 9_939_999) }
    // The clocks of two processes may differ by as much.
    _ = try await join(Self.laptop, at: 9_940_000)
  }

  @Test func aTokenIsWorthNothingInAnotherAccount() async throws {
    try await create()
    _ = try await store.run(rules().create(8, name: "other", token: Self.laptop))
    await #expect(throws: HubRefusal.token) {
      try await store.run(rules().authenticate(7, token: Self.laptop))
    }
    await #expect(throws: HubRefusal.token) {
      try await store.run(rules().authenticate(9, token: Self.phone))
    }
    await #expect(throws: HubRefusal.path("the account has no device 2")) {
      try await store.run(rules().revoke(7, token: Self.phone, device: 2))
    }
  }

  @Test func anAccountHasAsManyDevicesAsItMay() async throws {
    try await create()
    _ = try await invite()
    await #expect(throws: HubRefusal.full(limit: "devices", 1)) {
      try await join(Self.laptop, devices: 1)
    }
    // The refusal has not used up the code.
    _ = try await join(Self.laptop, devices: 2)
    try await store.run(rules().revoke(7, token: Self.phone, device: 2))
    _ = try await invite([51])
    #expect(try await join([3], code: [51], devices: 2).isNew)
  }

  @Test func aRevokedTokenMakesNoAccountAgain() async throws {
    try await create()
    try await store.run(rules().revoke(7, token: Self.phone, device: 1))
    await #expect(throws: HubRefusal.taken) { try await create() }
  }

  @Test(arguments: ["", "a\nb", String(repeating: "a", count: 201)])
  func aNameThatCannotBeShownIsRefused(name: String) async throws {
    await #expect(throws: HubRefusal.self) {
      try await store.run(rules().create(7, name: name, token: [1]))
    }
    await #expect(throws: HubRefusal.token) {
      try await store.run(rules().authenticate(7, token: [1]))
    }
  }

  @Test func theLastUseIsNotedWithAnAccuracyOfADay() async throws {
    try await create()
    let day: Int64 = 86_400_000
    for (now, expected) in [(day - 1, 0), (day, day), (1, day), (0, 0)] {
      let isDue = try await store.run(rules(now).authenticate(7, token: Self.phone)).isUseDue
      #expect(isDue == (now == day || now == 0), "\(now)")
      try await store.run(rules(now).noteUse(7, token: Self.phone))
      #expect(try await devices()[0].lastUse == expected, "\(now)")
    }
  }
}
