// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHub
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import Synchronization
import Testing

/// A hub that lies in words of the protocol.
@Suite struct HostileHubTests {
  private let clock = ManualClock()

  private func device() throws -> Device {
    let device = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    try device.write([
      LocalWrite(store: "cloud", key: "theme", value: .string("dark")),
      LocalWrite(store: "defaults", key: "own", value: .string("mine")),
    ])
    return device
  }

  private func contents(_ device: Device) throws -> [String] {
    var all: [String] = []
    try device.forEachEntry { all.append("\($0)") }
    return all
  }

  /// Meets a hub whose answers are changed, and returns why that failed, if it did.
  private func meet(
    _ device: Device, _ change: @escaping @Sendable (inout HubAnswer) -> Void
  ) throws -> KeepsakeError? {
    let (served, clock) = (ServedHub(), clock)
    let (hub, _) = try Hub.scripted { request in
      let reply = served.answer(request, at: clock.milliseconds)
      guard case .body(let bytes) = reply.events[1] else { return reply }
      do {
        var answer = try bytes.withUnsafeBufferPointer { try HubAnswer($0) }
        change(&answer)
        let text = String(decoding: try answer.text(), as: UTF8.self)
        return ScriptedTransport.Reply(200, text, type: "application/jsonl")
      } catch {
        return reply
      }
    }
    do throws(KeepsakeError) {
      try device.merge(with: hub)
      return nil
    } catch {
      return error
    }
  }

  private static func row(_ store: String, _ key: String, _ origin: Int64) throws -> HubAnswer.Row {
    let entry = Entry(
      Address(store: store, key: key), try TaggedCell(.string("evil")),
      timestamp: HybridTimestamp(rawValue: 1_699_999_999_000 << 16),
      origin: ReplicaID(rawValue: origin))
    return HubAnswer.Row(entry, seq: 1)
  }

  /// Meets a hub that adds a row to what it is asked for.
  private func meet(_ device: Device, adding row: HubAnswer.Row) throws -> KeepsakeError? {
    try meet(device) { answer in
      guard let through = answer.page?.through else { return }
      answer.page?.rows = [row]
      answer.page?.through = max(1, through)
      answer.seq = max(1, answer.seq)
    }
  }

  @Test(arguments: ["defaults", "other", "cloudy"])
  func rowsOfStoresThatWereNotAskedForDoNotComeIn(store: String) throws {
    let device = try device()
    let before = try contents(device)
    let error = try meet(device, adding: Self.row(store, "own", 5))
    #expect(try contents(device) == before, "\(String(describing: error))")
    // One that was asked for does.
    _ = try meet(device, adding: Self.row("cloud", "own", 5))
    #expect(try contents(device).count == before.count + 1)
  }

  private func theme(_ device: Device) throws -> StoredValue? {
    try device.entry(store: "cloud", key: "theme")?.content.value
  }

  /// Meets a hub that gives the device's own row back with another value, and claims to have seen
  /// all that the device wrote.
  private func meet(
    _ device: Device, returning value: String, later milliseconds: Int64 = 0
  ) throws -> KeepsakeError? {
    let own = try #require(try device.entry(store: "cloud", key: "theme"))
    let stamp = HybridTimestamp(rawValue: own.timestamp.rawValue + milliseconds << 16)
    let row = HubAnswer.Row(
      Entry(
        own.address, try TaggedCell(.string(value)), timestamp: stamp, origin: own.origin), seq: 1)
    return try meet(device) { answer in
      guard let through = answer.page?.through else { return }
      answer.page = HubAnswer.Page(
        rows: [row], through: max(1, through), hasMore: false,
        seen: [HubRequest.Seen(ByteText("cloud"), own.origin, own.timestamp)])
      answer.seq = max(1, answer.seq)
    }
  }

  @Test func anOwnRowThatComesBackChangedReplacesNothingSilently() throws {
    let device = try device()
    _ = try meet(device, returning: "zzz")
    #expect(try theme(device) == "zzz")
    #expect(try device.conflicts().map(\.lost) == ["dark"])
  }

  @Test func anOwnRowThatComesBackSmallerReplacesNothing() throws {
    let device = try device()
    _ = try meet(device, returning: "aaa")
    #expect(try theme(device) == "dark")
  }

  @Test func aRowFromTheFutureWaits() throws {
    let device = try device()
    let error = try meet(device, returning: "zzz", later: 86_400_000)
    #expect(try theme(device) == "dark", "\(String(describing: error))")
    clock.milliseconds += 60_000
    _ = try meet(device) { _ in }
    #expect(try theme(device) == "dark")
  }

  @Test func aHubThatIsAnotherEachTimeIsLeft() throws {
    let device = try device()
    let before = try contents(device)
    let number = Mutex<Int64>(100)
    let error = try meet(device) { answer in
      answer.hub = ReplicaID(
        rawValue: number.withLock { number in
          number += 1
          return number
        })
    }
    #expect(error != nil)
    #expect(try contents(device) == before)
  }

  @Test func aHubThatRevokesTheDevicesOwnTimestampsTakesNoValue() throws {
    let device = try device()
    let error = try meet(device) { $0.revocations = [ReplicaID(rawValue: 1): .zero] }
    #expect(try theme(device) == "dark", "\(String(describing: error))")
    #expect(try device.entry(store: "defaults", key: "own")?.content.value == "mine")
    #expect(try device.replica() != ReplicaID(rawValue: 1))
  }

  @Test(arguments: ["[", "{\"a\":", "{\"stores\":["])
  func anAnswerThatIsDeepIsRefused(part: String) throws {
    let device = try device()
    let before = try contents(device)
    let text = String(repeating: part, count: 300_000) + "\n"
    let (hub, _) = try Hub.scripted { _ in
      ScriptedTransport.Reply(200, text, type: "application/jsonl")
    }
    #expect {
      try device.merge(with: hub)
    } throws: { ($0 as? KeepsakeError)?.code == .malformed }
    #expect(try contents(device) == before)
  }

  @Test func rowsInAWrongOrderEndTheMerge() throws {
    let device = try device()
    let before = try contents(device)
    let row = try Self.row("cloud", "x", 5)
    let error = try meet(device) { answer in
      guard answer.page != nil else { return }
      answer.page?.rows = [row, row]
      answer.page?.through = 1
      answer.seq = 1
    }
    #expect(error?.code == .malformed && error?.path == "https://hub.example/keep")
    #expect(try contents(device) == before)
  }

  @Test func aHubThatNeverEndsIsLeft() throws {
    let device = try device()
    let before = try contents(device)
    let error = try meet(device) { $0.page?.hasMore = true }
    #expect(error?.code == .malformed)
    #expect(try contents(device) == before)
  }

  @Test func aHubThatForgetsTheStoresIsLeft() throws {
    let device = try device()
    let before = try contents(device)
    let error = try meet(device) { $0.stores = [:] }
    #expect(error?.code == .malformed)
    #expect(try contents(device) == before)
  }
}
