// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport
import Testing

/// What a hub makes of requests, honest ones and others.
@Suite struct HubRulesTests {
  /// A hub of this process, and what was asked of it.
  private final class Line: HubChannel {
    let name = "hub"
    let hub = MemoryHub(ReplicaID(rawValue: 9))
    let clock: ManualClock
    var requests: [HubRequest] = []
    var onRequest: (HubRequest) throws -> Void = { _ in }

    init(_ clock: ManualClock) { self.clock = clock }

    func send(_ request: HubRequest) throws(KeepsakeError) -> Result<HubAnswer, HubRefusal> {
      requests.append(request)
      do {
        try onRequest(request)
        return try hub.answer(request, at: clock.milliseconds)
      } catch {
        throw KeepsakeError(error, path: name)
      }
    }
  }

  private static let day: Int64 = 86_400_000
  private static let cloud = ByteText("cloud")

  private let clock = ManualClock()
  private let ahead = ManualClock()
  private let line: Line
  private let phone: Device
  private let laptop: Device

  init() throws {
    ahead.milliseconds = clock.milliseconds
    line = Line(clock)
    phone = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: ahead.wallClock)
    laptop = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
  }

  private func pass(_ milliseconds: Int64) {
    clock.milliseconds += milliseconds
    ahead.milliseconds += milliseconds
  }

  private func set(_ device: Device, _ key: String, _ value: StoredValue?) throws {
    pass(1)
    try device.write([LocalWrite(store: "cloud", key: key, value: value)])
  }

  @discardableResult
  private func meet(_ device: Device, page: Int = 1000) throws -> MergeReport {
    var generator = SeededGenerator(seed: 7)
    return try Merge.run(
      device, with: line, options: MergeOptions(), page: HubRequest.PageLimit(rows: page),
      using: &generator)
  }

  private func ask(_ request: HubRequest) throws -> Result<HubAnswer, HubRefusal> {
    try line.hub.answer(request, at: clock.milliseconds)
  }

  // MARK: - What devices have seen

  @Test func aRowThatLosesWhenItIsDueIsAConflict() throws {
    ahead.milliseconds += 600_000
    try set(phone, "theme", "dark")
    try meet(phone)
    let held = try #require(line.hub.held.first)
    var later = held
    later.timestamp = HybridTimestamp(rawValue: held.timestamp.rawValue + 1)
    later.origin = ReplicaID(rawValue: 3)
    later.content = TaggedCell(tag: 1, cell: .text("light"))
    #expect(try push([later]).get().pushed?.held == 1)
    pass(1_200_000)
    #expect(try meet(phone).conflicts.count == 1)
    #expect(line.hub.rows.map(\.entry) == [later])
  }

  @Test func aRowThatIsDueReplacesWhatItsDeviceHadReadWhenItPushed() throws {
    try set(laptop, "theme", "light")
    try meet(laptop)
    var entry = try #require(line.hub.rows.first?.entry)
    entry.timestamp = HybridTimestamp(milliseconds: clock.milliseconds + 600_000)
    entry.origin = ReplicaID(rawValue: 3)
    #expect(try push([entry]).get().pushed?.held == 1)
    pass(1_200_000)
    _ = try ask(HubRequest(device: ReplicaID(rawValue: 8), stores: []))
    #expect(line.hub.rows.map(\.entry) == [entry])
  }

  private func push(
    _ rows: [Entry], seen: [HubRequest.Seen] = [], by device: Int64 = 3
  ) throws -> Result<HubAnswer, HubRefusal> {
    let id = ReplicaID(rawValue: device)
    let stores = Set(rows.map(\.address.store) + [Self.cloud]).sorted()
    let look = try ask(HubRequest(device: id, stores: stores)).get()
    let peers = stores.map { look.stores[$0]?.peer ?? PeerState() }
    return try ask(
      HubRequest(
        device: id, stores: stores, expected: HubRequest.Memory(hub: look.hub, peers: peers),
        steps: [
          .push(
            HubRequest.Push(
              token: ExchangeToken(rawValue: 1), through: 1,
              read: stores.map { look.stores[$0]?.last ?? 0 }, own: EchoRange(), rows: rows,
              seen: seen))
        ]))
  }

  @Test func aDeviceSaysWhatItHasSeenOnlyOnceItHasGivenAllOfIt() throws {
    try set(phone, "a", 1)
    try set(phone, "b", 1)
    var isFirst = true
    line.onRequest = { request in
      guard isFirst, request.steps.contains(where: { if case .push = $0 { true } else { false } })
      else { return }
      isFirst = false
      try set(phone, "c", 1)
    }
    try meet(phone, page: 1)
    #expect(!isFirst)
    var given = HybridTimestamp.zero
    for case .push(let push) in line.requests.flatMap(\.steps) {
      given = max(given, push.rows.map(\.timestamp).max() ?? given)
      let seen = (push.seen ?? []).filter { $0.origin == ReplicaID(rawValue: 1) }
      #expect(seen.allSatisfy { $0.timestamp <= given })
    }
    #expect(line.hub.rows.count == 3)
  }

  // MARK: - Whom it has met

  @Test func aLookIsNotedOnceADayThoughItNamesNoStore() throws {
    try set(phone, "theme", "dark")
    try meet(phone)
    let id = ReplicaID(rawValue: 1)
    let first = try #require(line.hub.lastMet(id, Self.cloud))
    let look = HubRequest(device: id, stores: [])
    pass(Self.day / 2)
    _ = try ask(look)
    #expect(line.hub.lastMet(id, Self.cloud) == first)
    pass(Self.day)
    _ = try ask(look)
    #expect(line.hub.lastMet(id, Self.cloud) == clock.milliseconds)
    // By a clock that was ahead.
    pass(-10 * Self.day)
    _ = try ask(look)
    #expect(line.hub.lastMet(id, Self.cloud) == clock.milliseconds)
    // A stranger that only looks leaves nothing behind.
    let stranger = ReplicaID(rawValue: 8)
    _ = try ask(HubRequest(device: stranger, stores: [Self.cloud]))
    #expect(line.hub.lastMet(stranger, Self.cloud) == nil)
  }
}
