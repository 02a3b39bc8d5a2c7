// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport
import Testing

/// Which deletions a hub forgets, and what becomes of them then.
@Suite struct HubCollectionTests {
  private static let day: Int64 = 86_400_000

  private let clock = ManualClock()
  private let line: CountedHub
  private let phone: Device
  private let laptop: Device
  private let tablet: Device

  init() throws {
    line = CountedHub(MemoryHub(ReplicaID(rawValue: 9)), clock)
    func device(_ number: Int64, _ clock: ManualClock) throws -> Device {
      try Device.inMemory(identity: ReplicaID(rawValue: number), clock: clock.wallClock)
    }
    (phone, laptop, tablet) = (try device(1, clock), try device(2, clock), try device(3, clock))
  }

  private func set(_ device: Device, _ key: String, _ value: StoredValue?) throws {
    clock.milliseconds += 1
    try device.write([LocalWrite(store: "cloud", key: key, value: value)])
  }

  @discardableResult
  private func meet(_ devices: Device...) throws -> MergeReport {
    var generator = SystemRandomNumberGenerator()
    let reports = try devices.map {
      try Merge.run($0, with: line, options: MergeOptions(), using: &generator)
    }
    return try #require(reports.last)
  }

  private func pass(days: Int64) { clock.milliseconds += days * Self.day }

  private var keys: [String] { line.hub.rows.map(\.entry.address.key.string) }

  /// All three have "keep" and the deletion of "old", and the hub knows that of those who meet it.
  private func delete(readBy devices: Device...) throws {
    try set(phone, "old", 1)
    try set(phone, "keep", 1)
    try meet(phone, laptop, tablet)
    try set(phone, "old", nil)
    try meet(phone)
    for device in devices { try meet(device) }
    try meet(phone)
  }

  @Test func aDeletionGoesOnceItIsOldAndAllHaveReadIt() throws {
    try delete(readBy: laptop, tablet)
    let before = line.hub.account
    let deletion = try #require(line.hub.rows.first { $0.entry.content.isTombstone })
    pass(days: 89)
    try meet(phone)
    #expect(keys == ["keep", "old"] && line.hub.account.forgotten == 0)
    pass(days: 2)
    try meet(phone)
    #expect(keys == ["keep"])
    let after = line.hub.account
    #expect(after.forgotten == deletion.seq && after.seq == before.seq)
    #expect(after.rows == before.rows - 1)
    #expect(after.bytes == before.bytes - Int64(deletion.entry.cost))
    // Nobody has missed it, so nobody reads the hub again.
    for device in [phone, laptop, tablet] {
      #expect(try meet(device).transfers.allSatisfy { $0.received == 0 })
    }
  }

  @Test func aDeletionWaitsForWhoHasNotReadItUntilThatIsRetired() throws {
    try delete(readBy: laptop)
    pass(days: 100)
    try meet(phone)
    #expect(keys == ["keep", "old"])
    try line.hub.retire(tablet.replica())
    pass(days: 2)
    try meet(phone)
    #expect(keys == ["keep"])
    // What it still has comes back, and goes again with the first who knows of the deletion.
    try meet(tablet)
    #expect(keys == ["keep", "old"])
    try meet(laptop)
    try meet(tablet)
    #expect(try tablet.entry(store: "cloud", key: "old")?.content.value == nil)
    #expect(line.hub.rows.last?.entry.content.isTombstone == true)
  }

  @Test func whoIsNotMetFor180DaysIsNotWaitedFor() throws {
    try delete(readBy: laptop)
    pass(days: 179)
    try meet(phone)
    #expect(keys == ["keep", "old"])
    pass(days: 2)
    try meet(phone)
    #expect(keys == ["keep"])
  }

  @Test func whoIsRetiredWhileItMeetsHasMissedNothing() throws {
    try delete(readBy: laptop)
    let id = try tablet.replica()
    let look = try line.hub.answer(
      HubRequest(device: id, stores: [ByteText("cloud")]), at: clock.milliseconds
    ).get()
    try line.hub.retire(id)
    pass(days: 100)
    try meet(phone)
    #expect(keys == ["keep"])
    let peers = [try #require(look.stores[ByteText("cloud")]?.peer)]
    let offer = HubRequest(
      device: id, stores: [ByteText("cloud")],
      expected: HubRequest.Memory(hub: look.hub, peers: peers),
      steps: [
        .offer(
          HubRequest.Offer(
            token: ExchangeToken(rawValue: 1 << 40), memory: peers, echo: EchoRange(),
            page: HubRequest.PageLimit()))
      ])
    #expect(try line.hub.answer(offer, at: clock.milliseconds) == .failure(.moved))
  }

  @Test func deletionsAreLookedForOnceADayByWhateverClock() throws {
    try delete(readBy: laptop, tablet)
    pass(days: 100)
    try meet(phone)
    #expect(line.hub.account.collected == clock.milliseconds)
    let first = clock.milliseconds
    clock.milliseconds += Self.day - 10
    try set(phone, "keep", 2)
    try meet(phone)
    #expect(line.hub.account.collected == first)
    // It was ahead.
    pass(days: -50)
    try set(phone, "keep", 3)
    try meet(phone)
    #expect(line.hub.account.collected == clock.milliseconds)
  }

  @Test func aDeviceThatAClockDatedAheadIsUnmet180DaysFromNow() throws {
    pass(days: 4000)
    try delete(readBy: laptop)
    pass(days: -3800)
    try meet(phone)
    #expect(line.hub.lastMet(try tablet.replica(), ByteText("cloud")) == clock.milliseconds)
  }

  @Test func oneRequestForgetsThousandDeletionsOfAStoreAndTheNextGoesOn() throws {
    let keys = (0..<1001).map(String.init)
    func writes(_ value: StoredValue?) -> [LocalWrite] {
      keys.map { LocalWrite(store: "cloud", key: $0, value: value) }
    }
    try phone.write(writes(1))
    try meet(phone)
    clock.milliseconds += 1
    try phone.write(writes(nil))
    try meet(phone)
    try meet(phone)
    pass(days: 91)
    let dated = line.hub.account.collected
    try meet(phone)
    #expect(line.hub.rows.count == 1 && line.hub.account.collected == dated)
    try meet(phone)
    #expect(line.hub.rows.isEmpty && line.hub.account.collected == clock.milliseconds)
  }

  @Test func aDeletionStaysBesideARowThatWaits() throws {
    try delete(readBy: laptop, tablet)
    pass(days: 91)
    let ahead = ManualClock()
    ahead.milliseconds = clock.milliseconds + 10 * Self.day
    let fast = try Device.inMemory(identity: ReplicaID(rawValue: 4), clock: ahead.wallClock)
    try fast.write([LocalWrite(store: "cloud", key: "old", value: 2)])
    // It is the first that comes, so nothing was collected before.
    try meet(fast)
    #expect(keys == ["keep", "old"] && line.hub.held.count == 1)
    try meet(fast, phone)
    #expect(keys == ["keep", "old"])
  }

  @Test func deletionsThatWereForgottenDoNotComeBackWithAllThatADeviceHas() throws {
    try delete(readBy: laptop, tablet)
    pass(days: 91)
    try meet(phone)
    for device in [phone, laptop] { try device.compact() }
    // A revocation lets every device give all it has.
    try set(tablet, "late", 1)
    try meet(tablet)
    let limit = HybridTimestamp(milliseconds: clock.milliseconds - 1)
    let revoke = HubRequest(
      device: ReplicaID(rawValue: 8), stores: [], steps: [.revoke([ReplicaID(rawValue: 3): limit])])
    #expect(try line.hub.answer(revoke, at: clock.milliseconds).get().revoked == 1)
    try meet(phone, laptop, tablet)
    #expect(!keys.contains("old"))
  }
}
