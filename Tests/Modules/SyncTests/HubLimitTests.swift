// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import Testing

/// A device of the account that asks what no honest one does. It can reach no other account: no
/// message names one, and the rules get the tables of that of the token alone.
@Suite struct HubLimitTests {
  private static let cloud = ByteText("cloud")
  private let clock = ManualClock()
  private let hub: MemoryHub
  private let device = ReplicaID(rawValue: 3)

  init() {
    var limits = HubLimits()
    (limits.stores, limits.held, limits.origins) = (64, 50, 100)
    (limits.rows, limits.bytes, limits.former) = (70, 2_000_000, 3)
    limits.replicas = 5
    hub = MemoryHub(ReplicaID(rawValue: 9), limits: limits)
  }

  private func entry(
    _ key: String = "a", store: String = "cloud", _ value: String = "1",
    at timestamp: HybridTimestamp? = nil
  ) -> Entry {
    Entry(
      Address(store: store, key: key), TaggedCell(tag: 1, cell: .text(value)),
      timestamp: timestamp ?? HybridTimestamp(milliseconds: clock.milliseconds), origin: device)
  }

  private func request(
    _ rows: [Entry], stores: [ByteText] = [cloud], seen: [HubRequest.Seen]? = nil
  ) throws -> HubRequest {
    let all = try hub.answer(
      HubRequest(device: device, stores: [Self.cloud]), at: clock.milliseconds
    ).get()
    let look = stores.map { all.stores[$0] }
    return HubRequest(
      device: device, stores: stores,
      expected: HubRequest.Memory(hub: all.hub, peers: look.map { $0?.peer ?? PeerState() }),
      steps: [
        .push(
          HubRequest.Push(
            token: ExchangeToken(rawValue: all.seq + 1), through: 1,
            read: look.map { $0?.last ?? 0 },
            own: EchoRange(), rows: rows, seen: seen))
      ])
  }

  @discardableResult
  private func ask(_ request: HubRequest) throws -> HubAnswer {
    try hub.answer(request, at: clock.milliseconds).get()
  }

  private func limit(_ name: String, _ request: HubRequest) {
    #expect {
      try ask(request)
    } throws: { error in
      if case HubFault.limit(let found, _) = error { found == name } else { false }
    }
  }

  private func malformed(_ request: HubRequest) {
    #expect {
      try ask(request)
    } throws: { error in
      if case HubFault.malformed = error { true } else { false }
    }
  }

  @Test func aRowOverALimitIsRefusedWithAllOfItsRequest() throws {
    let (key, value) = (String(repeating: "k", count: 1024), String(repeating: "v", count: 1 << 20))
    try ask(request([entry(key, value)]))
    limit("keyBytes", try request([entry("b"), entry(key + "k")]))
    limit("valueBytes", try request([entry("b"), entry("c", value + "v")]))
    #expect(hub.rows.map(\.entry) == [entry(key, value)])
    #expect(try request([]).expected?.peers == request([]).expected?.peers)
  }

  @Test func whatNoDeviceAsksChangesNothing() throws {
    try ask(request([entry()]))
    let rows = hub.rows
    malformed(try request([entry(store: "defaults")], stores: [ByteText("defaults")]))
    malformed(try request([entry(store: "cloud:b")]))
    malformed(try request([entry("")]))
    malformed(try request([entry(at: HybridTimestamp(rawValue: -1))]))
    malformed(try request([], stores: [Self.cloud, Self.cloud]))
    malformed(
      try request([], seen: [HubRequest.Seen(ByteText("cloud:b"), device, .zero)]))
    var short = try request([])
    short.steps.append(.acknowledge([]))
    malformed(short)
    for steps in [[HubRequest.Step.rewind, .rewind], [.acknowledge([0]), .acknowledge([0])]] {
      var twice = try request([])
      twice.steps += steps
      malformed(twice)
    }
    #expect(hub.rows == rows)
  }

  @Test func anAccountHasSoManyStoresAndNoMore() throws {
    for number in 0..<64 {
      try ask(request([entry(store: "cloud:\(number)")], stores: [ByteText("cloud:\(number)")]))
    }
    limit("stores", try request([entry()]))
    try ask(request([entry("b", store: "cloud:1")], stores: [ByteText("cloud:1")]))
    let many = (0..<65).map { ByteText("cloud:\($0)") }
    limit("stores", HubRequest(device: device, stores: many))
  }

  @Test func storesOfRowsFromTheFutureCountAmongThem() throws {
    let far = HybridTimestamp(milliseconds: clock.milliseconds + 3_600_000)
    let stores = (0..<40).map { "cloud:\($0)" }
    try ask(request(stores.map { entry(store: $0, at: far) }, stores: stores.map(ByteText.init)))
    let more = (0..<25).map { "cloud:more \($0)" }
    for time in [nil, far] {
      let rows = more.map { entry(store: $0, at: time) }
      limit("stores", try request(rows, stores: more.map(ByteText.init)))
    }
    try ask(request(more.dropLast().map { entry(store: $0) }, stores: more.map(ByteText.init)))
  }

  @Test func aVersionVectorGrowsToItsLimit() throws {
    let seen = (1...100_000).map {
      HubRequest.Seen(Self.cloud, ReplicaID(rawValue: $0), HybridTimestamp(rawValue: 5))
    }
    try ask(request([], seen: seen))
    #expect(try vector().count == 100)
    let raised = HubRequest.Seen(Self.cloud, ReplicaID(rawValue: 1), HybridTimestamp(rawValue: 6))
    try ask(request([], seen: [raised, seen[50_000]]))
    #expect(try vector().count == 100)
    #expect(try vector().contains(raised))
  }

  private func vector() throws -> [HubRequest.Seen] {
    var offer = try request([])
    offer.steps = [
      .offer(
        HubRequest.Offer(
          token: ExchangeToken(rawValue: 77), memory: [PeerState()], echo: EchoRange(),
          page: HubRequest.PageLimit()))
    ]
    return try ask(offer).page?.seen ?? []
  }

  @Test func rowsFromTheEndOfTimeWaitAndAreBounded() throws {
    let end = HybridTimestamp(rawValue: .max)
    let last = HubRequest.Seen(Self.cloud, device, end)
    try ask(request((0..<50).map { entry("\($0)", at: end) }, seen: [last]))
    #expect(hub.rows.isEmpty && hub.held.count == 50)
    #expect(try vector().allSatisfy { $0.timestamp < end })
    limit("held", try request([entry("more", at: end)]))
    try ask(request([entry("0", "2", at: end)]))
    #expect(hub.held.count == 50)
    try ask(request([entry("zero", at: .zero), entry("now")]))
    #expect(hub.rows.map(\.entry.address.key.string) == ["now", "zero"])
  }

  @Test func aFullAccountTakesWhatLetsItShrinkOrStay() throws {
    try ask(request((0..<69).map { entry("\($0)") }))
    let far = HybridTimestamp(milliseconds: clock.milliseconds + 3_600_000)
    try ask(request([entry("held", at: far)]))
    let full = hub.account
    #expect(full.rows == 70)
    clock.milliseconds += 1
    limit("rows", try request([entry("0", "2"), entry("more")]))
    #expect(hub.account == full)
    try ask(request([entry("0", "2"), entry("held", "2", at: far)]))
    #expect(hub.account.bytes == full.bytes)
    clock.milliseconds += 3_600_000
    try ask(request([entry("1", "3")]))
    #expect(hub.held.isEmpty && hub.account.bytes == full.bytes)
    #expect(hub.account.rows == 70)
  }

  @Test func anAccountHasSoManyBytesAndNoMore() throws {
    let large = String(repeating: "v", count: 1_000_000)
    try ask(request([entry("a", large)]))
    limit("bytes", try request([entry("b", large)]))
    clock.milliseconds += 1
    try ask(request([entry("a", "small"), entry("b", large)]))
    #expect(hub.account.bytes == 1_000_207)
    #expect(hub.account.bytes == hub.rows.reduce(0) { $0 + Int64($1.entry.cost) })
  }

  @Test func formerReplicaIDsAreForgottenBeyondALimit() throws {
    for number in 20..<25 {
      var rename = try request([])
      rename.steps = [.rename(ReplicaID(rawValue: Int64(number)))]
      try ask(rename)
    }
    #expect(hub.account.former.map(\.rawValue) == [21, 22, 23])
  }

  @Test func devicesThatAreRememberedAreBounded() throws {
    func come(_ number: Int64) throws -> HubRequest {
      var request = try request([])
      request.device = ReplicaID(rawValue: number)
      let look = try ask(HubRequest(device: request.device, stores: [Self.cloud]))
      request.expected?.peers = [look.stores[Self.cloud]?.peer ?? PeerState()]
      return request
    }
    for number in 10..<15 { try ask(come(Int64(number))) }
    limit("replicas", try come(15))
    var again = try come(10)
    again.expected = nil
    again.steps = []
    try ask(again)
    // The one that was away longest, beyond 180 days, makes room.
    clock.milliseconds += 181 * 86_400_000
    try ask(come(12))
    try ask(come(15))
    limit("replicas", try come(16))
  }

  @Test func aRetiredDeviceIsWaitedForAgainOnceItComes() throws {
    try ask(request([entry()]))
    try hub.retire(ReplicaID(rawValue: 8))
    #expect(try hub.retired.isEmpty)
    try hub.retire(device)
    #expect(try hub.retired == [device])
    _ = try request([])
    #expect(try hub.retired.isEmpty)
  }

  @Test func revocationsAreBounded() throws {
    func revoke(_ ids: ClosedRange<Int64>) -> HubRequest {
      let limits = ids.map { (ReplicaID(rawValue: $0), HybridTimestamp(rawValue: 5)) }
      return HubRequest(
        device: device, stores: [], steps: [.revoke(Dictionary(uniqueKeysWithValues: limits))])
    }
    try ask(revoke(1...100))
    limit("revocations", revoke(101...101))
    #expect(try ask(revoke(1...100)).revocations.count == 100)
  }

  @Test func aDeviceHasReadNoFurtherThanTheHubHasGiven() throws {
    try ask(request([entry()]))
    var far = try request([])
    far.steps = [.acknowledge([1 << 53])]
    #expect(try ask(far).stores[Self.cloud]?.peer.acked == 1)
    var negative = try request([])
    negative.steps = [.acknowledge([-1])]
    #expect(try ask(negative).stores[Self.cloud]?.peer.acked == 1)
  }
}
