// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport
import Testing

/// Devices that know of each other by a hub alone.
@Suite struct HubTests {
  private let clock = ManualClock()
  private let line: CountedHub
  private let phone: Device
  private let laptop: Device

  init() throws {
    line = CountedHub(MemoryHub(ReplicaID(rawValue: 9)), clock)
    phone = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    laptop = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
  }

  private func set(_ device: Device, _ key: String, _ value: StoredValue?) throws {
    clock.milliseconds += 1
    try device.write([LocalWrite(store: "cloud", key: key, value: value)])
  }

  @discardableResult
  private func meet(
    _ device: Device, _ options: MergeOptions = MergeOptions()
  ) throws -> MergeReport {
    var generator = SeededGenerator(seed: 7)
    return try Merge.run(device, with: line, options: options, using: &generator)
  }

  private func value(_ device: Device, _ key: String) throws -> StoredValue? {
    try device.entry(store: "cloud", key: key)?.content.value
  }

  @Test func whatOneGivesTheOtherGets() throws {
    try set(phone, "theme", "dark")
    try set(laptop, "font", "Mono")
    #expect(try meet(phone).hasConverged)
    let report = try meet(laptop)
    #expect(report.hasConverged)
    #expect(report.transfers.map(\.received) == [1, 1])
    try meet(phone)
    for device in [phone, laptop] {
      #expect(try value(device, "theme") == "dark")
      #expect(try value(device, "font") == "Mono")
    }
  }

  @Test func whoHasNothingNewAsksOnce() throws {
    try set(phone, "theme", "dark")
    try meet(phone)
    line.requests = []
    let report = try meet(phone)
    #expect(line.requests.count == 1)
    #expect(report.transfers.allSatisfy { $0.received == 0 })
  }

  @Test func aDeviceThatHasNewsAsksOnceAndAHubThatHasNewsIsAskedTwice() throws {
    for device in [phone, laptop, phone] { try meet(device) }
    try set(phone, "theme", "dark")
    line.requests = []
    #expect(try meet(phone).hasConverged)
    #expect(line.requests.count == 1)
    #expect(line.hub.rows.count == 1)
    // Nor is there anything to read of what it gave.
    let report = try meet(phone)
    #expect(report.hasConverged && report.transfers.allSatisfy { $0.received == 0 })
    #expect(line.requests.count == 2)
    line.requests = []
    try set(laptop, "font", "Mono")
    #expect(try meet(laptop).hasConverged)
    #expect(line.requests.count == 2)
    #expect(try value(laptop, "theme") == "dark")
    line.requests = []
    #expect(try meet(laptop).hasConverged)
    #expect(try meet(laptop).hasConverged)
    #expect(line.requests.count == 2)
    #expect(line.requests.allSatisfy { $0.expected == nil })
  }

  @Test func theDeviceThatMeetsSecondFindsTheConflict() throws {
    try set(phone, "theme", "dark")
    try set(laptop, "theme", "light")
    #expect(try meet(phone).conflicts.isEmpty)
    let conflicts = try meet(laptop).conflicts.map(\.conflict)
    #expect(conflicts.map(\.lostOrigin) == [ReplicaID(rawValue: 1)])
    #expect(try meet(phone).conflicts.isEmpty)
    #expect(try value(phone, "theme") == "light")
  }

  @Test func aRequestThatComesAgainDoesNothing() throws {
    for value in ["dark", "light"] {
      try set(phone, "theme", .string(value))
      try meet(phone)
    }
    let (rows, image) = (line.hub.rows, line.requests)
    #expect(image.contains { $0.recalled != nil })
    for request in image where request.expected != nil || request.recalled != nil {
      #expect(try line.hub.answer(request, at: clock.milliseconds) == .failure(.moved))
    }
    #expect(line.hub.rows == rows)
    #expect(try meet(phone).hasConverged)
  }

  @Test func aPushFromWhoHasNotReadEverythingIsRefused() throws {
    try set(phone, "theme", "dark")
    try meet(phone)
    try set(laptop, "font", "Mono")
    try meet(laptop)
    try set(phone, "theme", "light")
    // As if it were the first time, and nothing had been read.
    let memory = PeerState()
    let push = HubRequest.Push(
      token: ExchangeToken(rawValue: 1), through: 1, read: [0], own: EchoRange(), rows: [],
      seen: nil)
    let request = HubRequest(
      device: ReplicaID(rawValue: 3), stores: [ByteText("cloud")],
      expected: HubRequest.Memory(hub: ReplicaID(rawValue: 9), peers: [memory]),
      steps: [.push(push)])
    #expect(try line.hub.answer(request, at: clock.milliseconds) == .failure(.behind))
  }

  @Test func whatBeatsAPushedRowIsReadAgain() throws {
    try set(phone, "theme", "dark")
    try meet(phone)
    let row = try #require(line.hub.rows.first)
    var older = row.entry
    older.timestamp = HybridTimestamp(rawValue: 1)
    let push = HubRequest.Push(
      token: ExchangeToken(rawValue: 1), through: 1, read: [row.seq], own: EchoRange(),
      rows: [older], seen: nil)
    let request = HubRequest(
      device: ReplicaID(rawValue: 3), stores: [ByteText("cloud")],
      expected: HubRequest.Memory(hub: ReplicaID(rawValue: 9), peers: [PeerState()]),
      steps: [.push(push)])
    let pushed = try line.hub.answer(request, at: clock.milliseconds).get().pushed
    #expect(pushed?.answered == 1 && pushed?.changed == 0)
    #expect(line.hub.rows == [HubAnswer.Row(row.entry, seq: row.seq + 1)])
  }

  @Test func aHubThatWasRestoredGoesOnAsAnotherAndGetsEverythingAgain() throws {
    try set(phone, "theme", "dark")
    try meet(phone)
    let image = line.hub.image
    try set(phone, "font", "Mono")
    try meet(phone)
    try meet(laptop)
    line.hub.restore(image)
    let report = try meet(phone)
    #expect(report.events == [.cloneDetected(device: 1)])
    #expect(report.hasConverged)
    // Its collections do not wait for a hub that nobody meets again.
    #expect(try phone.peers().allSatisfy { $0.id != ReplicaID(rawValue: 9) || $0.isRetired })
    #expect(line.hub.id != ReplicaID(rawValue: 9))
    #expect(line.hub.rows.map(\.entry.address.key.string) == ["font", "theme"])
    #expect(try meet(laptop).events.isEmpty)
  }

  @Test func aHubThatWasWipedGetsEverythingAgain() throws {
    let image = line.hub.image
    try set(phone, "theme", "dark")
    try meet(phone)
    line.hub.restore(image)
    #expect(try meet(phone).hasConverged)
    #expect(line.hub.rows.count == 1)
  }

  @Test func aHubIsNotMergedOneWayNorWithWhatDoesNotSync() throws {
    #expect(throws: KeepsakeError.self) { try meet(phone, MergeOptions(isOneWay: true)) }
    #expect(throws: KeepsakeError.self) { try meet(phone, MergeOptions(stores: ["defaults"])) }
    #expect(line.requests.isEmpty)
  }

  @Test func timestampsThatDoNotStandMakeAllGiveEverythingAgain() throws {
    try set(phone, "theme", "dark")
    try meet(phone)
    try set(laptop, "font", "Mono")
    try meet(laptop)
    let theme = line.hub.rows.map(\.entry).filter { $0.address.key.string == "theme" }
    let limit = try #require(theme.first?.timestamp)
    let request = HubRequest(
      device: ReplicaID(rawValue: 3), stores: [], steps: [.revoke([ReplicaID(rawValue: 1): limit])])
    let answer = try line.hub.answer(request, at: clock.milliseconds).get()
    // It wrote nothing after that.
    #expect(answer.revoked == 0)
    line.requests = []
    try meet(laptop)
    // The first was refused: the device did not know of the limit.
    #expect(line.requests.count == 2)
    let early = HybridTimestamp(rawValue: 1)
    let again = HubRequest(
      device: ReplicaID(rawValue: 3), stores: [], steps: [.revoke([ReplicaID(rawValue: 1): early])])
    #expect(try line.hub.answer(again, at: clock.milliseconds).get().revoked == 1)
    let look = HubRequest(device: ReplicaID(rawValue: 2), stores: [ByteText("cloud")])
    let store = try line.hub.answer(look, at: clock.milliseconds).get().stores[ByteText("cloud")]
    #expect(store?.peer.cursor == 0)
    #expect(try meet(laptop).transfers.map(\.received).reduce(0, +) > 0)
    #expect(try value(laptop, "theme") == "dark")
    #expect(try meet(laptop).hasConverged)
  }

  @Test func aHubThatAlwaysForgetsEndsTheMerge() throws {
    try set(phone, "theme", "dark")
    try meet(phone)
    line.lastMet = nil
    line.change = { answer in
      for store in answer.stores.keys {
        answer.stores[store]?.peer.readToken = ExchangeToken(rawValue: 12_345)
      }
    }
    #expect(throws: KeepsakeError.self) { try meet(phone) }
    line.change = { _ in }
    #expect(try meet(phone).hasConverged)
  }

  private static let lies: [@Sendable (inout HubAnswer) -> Void] = [
    { $0.stores = [:] },
    { $0.page = nil },
    { $0.page?.rows.reverse() },
    { answer in
      let rows = answer.page?.rows ?? []
      answer.page?.rows += rows
    },
    { $0.page?.through = 0 },
    { if $0.page != nil { $0.page?.hasMore = true } },
    { $0.pushed = nil },
    { $0.pushed?.changed = 1 << 53 },
    { answer in
      // Pages without rows, without end.
      guard let through = answer.page?.through else { return }
      answer.page = HubAnswer.Page(rows: [], through: through + 1, hasMore: true, seen: [])
    },
    { answer in
      for id in 1...1001 { answer.revocations[ReplicaID(rawValue: Int64(id))] = .zero }
    },
  ]

  @Test(arguments: lies.indices)
  func anAnswerThatMakesNoSenseIsAnErrorAndLosesNothing(number: Int) throws {
    for key in ["a", "b"] { try set(phone, key, 1) }
    try meet(phone)
    for key in ["c", "d"] { try set(laptop, key, 1) }
    line.change = Self.lies[number]
    #expect { try meet(laptop) } throws: { ($0 as? KeepsakeError)?.code == .malformed }
    line.change = { _ in }
    #expect(try meet(laptop).hasConverged)
    #expect(line.hub.rows.count == 4)
    for key in ["a", "b", "c", "d"] { #expect(try value(laptop, key) == 1) }
  }

  @Test func aLongAnswerComesInPages() throws {
    for number in 0..<50 { try set(phone, "key \(number)", .integer(Int64(number))) }
    var generator = SeededGenerator(seed: 7)
    for device in [phone, laptop] {
      let report = try Merge.run(
        device, with: line, options: MergeOptions(), page: HubRequest.PageLimit(rows: 7),
        using: &generator)
      #expect(report.hasConverged)
    }
    #expect(try value(laptop, "key 49") == 49)
    // Each row is given once, however many pages it takes.
    let given = line.requests.flatMap(\.steps).reduce(0) { count, step in
      if case .push(let push) = step { count + push.rows.count } else { count }
    }
    #expect(given == 50)
    let pages = line.requests.flatMap(\.steps).count { if case .more = $0 { true } else { false } }
    #expect(pages == 7)
  }
}
