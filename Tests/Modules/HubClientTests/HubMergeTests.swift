// SPDX-License-Identifier: Apache-2.0

import Foundation
import HubScript
import KeepsakeDevice
import KeepsakeHub
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

/// The requests and answers of devices and a hub, as text.
@Suite struct HubMergeTests: ServedHubSuite {
  let clock = ManualClock()
  let served = ServedHub()

  private func device(_ id: Int64) throws -> Device {
    let device = try Device.inMemory(identity: ReplicaID(rawValue: id), clock: clock.wallClock)
    try device.write([
      LocalWrite(store: "cloud", key: "theme", value: .string("dark\(id)")),
      LocalWrite(store: "cloud:a/b", key: "k\(id)", value: .array([.date(Date.now), 1, 0.5])),
      LocalWrite(store: "defaults", key: "own", value: .integer(id)),
    ])
    return device
  }

  /// A hub that accepts no row of more than 1,000 bytes.
  private func hubOfShortRows() throws -> Hub {
    var limits = HubLimits()
    limits.rowBytes = 1_000
    let served = ServedHub(limits: limits)
    return try Hub.scripted(served.membership()) { [clock] in served.answer($0, at: clock) }.hub
  }

  private func list(_ device: Device) throws -> [String] {
    var all: [String] = []
    try device.forEachEntry { if $0.address.store.string != "defaults" { all.append("\($0)") } }
    return all
  }

  @Test func devicesSyncByTextAloneAndSayNothingTwice() throws {
    let first = try served.membership()
    let (phone, laptop) = (try device(1), try device(2))
    let (hub, transport) = try hub(first)
    let (other, _) = try self.hub(served.membership(beside: first))
    #expect(try phone.merge(with: hub).hasConverged)
    try laptop.merge(with: other)
    try phone.merge(with: hub)
    #expect(try list(phone) == list(laptop))
    let before = transport.requests.count
    let report = try phone.merge(with: hub)
    #expect(report.transfers.allSatisfy { $0.received == 0 && $0.changed == 0 })
    // One request, whose answer has no body.
    let last = transport.requests[before...]
    #expect(last.count == 1 && last.last?.headers["If-None-Match"] != nil)
    for request in transport.requests {
      #expect(request.headers["Authorization"] == "Bearer \(first.token)")
    }
  }

  @Test func whatComesWithARefusalIsNotAskedForAgain() throws {
    let first = try served.membership()
    let (phone, laptop) = (try device(1), try device(2))
    let other = try hub(served.membership(beside: first)).hub
    let isFirst = Mutex(true)
    let (hub, transport) = try self.hub(first) { request in
      let comesBetween = isFirst.withLock { isFirst in
        defer { if request.method == "POST" { isFirst = false } }
        return isFirst && request.method == "POST"
      }
      if comesBetween {
        do { try laptop.merge(with: other) } catch { Issue.record("\(error)") }
      }
      return nil
    }
    try phone.merge(with: hub)
    #expect(transport.requests.map(\.method) == ["GET", "POST", "POST"])
    try laptop.merge(with: other)
    #expect(try list(phone) == list(laptop))
  }

  @Test func aRowThatIsRefusedStaysIsReportedAndIsOfferedAgain() throws {
    let membership = try served.membership()
    let device = try device(1)
    let refuses = Mutex(true)
    let (hub, transport) = try self.hub(membership) { request in
      let lines = String(decoding: request.body ?? [], as: UTF8.self).split(separator: "\n")
      guard refuses.withLock(\.self), let place = lines.firstIndex(where: { $0.contains("theme") })
      else { return nil }
      return .problem(413, "too-large", "row", more: #","line":\#(place + 1)"#)
    }
    for _ in 0..<2 {
      let report = try device.merge(with: hub)
      #expect(report.events == [.tooLarge(store: "cloud", key: "theme")])
      #expect(!report.hasConverged)
    }
    refuses.withLock { $0 = false }
    let report = try device.merge(with: hub)
    #expect(report.hasConverged && report.transfers[1].changed == 1)
    #expect(transport.requests.count { $0.method == "POST" } == 4)
  }

  @Test(arguments: [
    "key = CAST(x'ff' AS TEXT)", "value = CAST(x'ff' AS TEXT)", "key = ''", "replica_id = 0",
    "timestamp = -1", "timestamp = -9223372036854775808",
  ])
  func aRowThatNoDeviceReadsStaysAndIsReported(change: String) throws {
    let membership = try served.membership()
    let (phone, laptop) = (try device(1), try Device.inMemory(clock: clock))
    try phone.execute("UPDATE entry SET \(change) WHERE key = 'theme'")
    let (hub, _) = try hub(membership)
    for _ in 0..<2 {
      let report = try phone.merge(with: hub)
      #expect(report.events == [.unreadable(count: 1)] && !report.hasConverged)
    }
    try laptop.merge(with: self.hub(served.membership(beside: membership)).hub)
    #expect(try list(laptop).count == 1)
  }

  @Test func aRowThatIsHeldBackIsNoErrorForAReportOfNothing() throws {
    let (device, hub) = try (device(1), hubOfShortRows())
    let large = StoredValue.string(String(repeating: "x", count: 2_000))
    try device.write([LocalWrite(store: "cloud", key: "large", value: large)])
    let report = try device.merge(with: hub, options: MergeOptions(changeLimit: -1))
    #expect(!report.hasConverged && report.events == [])
  }

  @Test func aPageThatIsTooLargeForSomethingInBetweenIsHalved() throws {
    let device = try device(1)
    for number in 0..<20 {
      try device.write([LocalWrite(store: "cloud", key: "k\(number)", value: .integer(1))])
    }
    let (hub, _) = try self.hub(served.membership()) { request in
      (request.body ?? []).count > 100_000
        ? ScriptedTransport.Reply(413, "<html>", type: "text/html") : nil
    }
    try device.write([
      LocalWrite(store: "cloud", key: "a", value: .string(String(repeating: "x", count: 90_000))),
      LocalWrite(store: "cloud", key: "b", value: .string(String(repeating: "x", count: 90_000))),
    ])
    #expect(try device.merge(with: hub).hasConverged)
  }

  @Test(arguments: [-24, 24])
  func aHubWhoseClockIsADayOffIsRefused(hours: Int64) throws {
    let device = try device(1)
    let before = try list(device)
    let wrong = ManualClock()
    wrong.milliseconds = clock.milliseconds + hours * 3_600_000
    let (hub, transport) = try Hub.scripted(served.membership()) { [served] request in
      served.answer(request, at: wrong)
    }
    #expect {
      try device.merge(with: hub)
    } throws: { "\($0)".contains("its clock is 24 hours") }
    #expect(try list(device) == before && transport.requests.count == 1)
  }

  @Test func aHubWhoseClockWasDaysAheadSyncsWhenItIsSetRight() throws {
    let first = try served.membership()
    let (hub, _) = try hub(first)
    let (other, _) = try self.hub(served.membership(beside: first))
    let (local, phone) = (try device(1), try device(2))
    clock.milliseconds += 48 * 3_600_000
    try local.merge(with: hub)
    clock.milliseconds -= 48 * 3_600_000
    #expect(try phone.merge(with: other).hasConverged)
    #expect(try local.merge(with: hub).transfers.contains { $0.changed > 0 })
    #expect(try list(phone) == list(local))
  }

  @Test func deletionsThatACompactionDropsAreDroppedOnTheHub() throws {
    let (device, membership) = (try device(1), try served.membership())
    let (hub, _) = try self.hub(membership)
    try device.write([LocalWrite(store: "cloud", key: "theme", value: nil)])
    try device.merge(with: hub)
    clock.milliseconds += 2 * 365 * 86_400_000
    #expect(try device.compact(with: hub).dropped == 1)
    let reader = try Device.inMemory(clock: clock)
    let report = try reader.merge(with: self.hub(served.membership(beside: membership)).hub)
    #expect(report.transfers[0].received == 1)
  }

  @Test func aRowThatIsHeldBackBesideADroppedDeletionLeavesTheCursorInForce() throws {
    let (device, hub) = try (device(1), hubOfShortRows())
    let large = StoredValue.string(String(repeating: "x", count: 2_000))
    try device.write([LocalWrite(store: "cloud", key: "large", value: large)])
    try device.merge(with: hub)
    try device.write([LocalWrite(store: "cloud", key: "theme", value: nil)])
    try device.merge(with: hub)
    clock.milliseconds += 2 * 365 * 86_400_000
    #expect(try device.compact().dropped == 1)
    let report = try device.merge(with: hub)
    #expect(report.events == [.tooLarge(store: "cloud", key: "large")])
    #expect(report.transfers[0].received == 0)
  }

  @Test func aDeletionThatIsForgottenWhileAnotherRowWaitsLeavesNoDeviceWithTheValue() throws {
    let membership = try served.membership()
    let (phone, laptop) = (try device(1), try Device.inMemory(clock: clock))
    let isOld = Mutex(true)
    let (hub, _) = try hub(membership)
    let (other, _) = try self.hub(served.membership(beside: membership)) {
      [served, clock] request in
      var reply = served.answer(request, at: clock)
      guard isOld.withLock(\.self), case .body(let bytes)? = reply.events.dropFirst().first else {
        return reply
      }
      // An older version cannot read this row.
      let text = String(decoding: bytes, as: UTF8.self)
        .replacing(#""store":"cloud:a/b""#, with: #""store":"new:""#)
      reply.events[1] = .body(Array(text.utf8))
      return reply
    }
    func syncTime() throws -> Int64? {
      try laptop.tables.read { try $0.first("SELECT synced_at FROM hub") { $0.integer(0) } }
    }
    try phone.merge(with: hub)
    let report = try laptop.merge(with: other)
    #expect(report.events == [.unreadable(count: 1)])
    let time = try syncTime()
    clock.milliseconds += 1_000
    #expect(try laptop.merge(with: other).events == report.events)
    // It has written nothing: a session would sync what it writes.
    #expect(try syncTime() == time)
    try phone.write([LocalWrite(store: "cloud", key: "theme", value: nil)])
    try phone.merge(with: hub)
    clock.milliseconds += 2 * 365 * 86_400_000
    #expect(try phone.compact(with: hub).dropped == 1)
    isOld.withLock { $0 = false }
    try laptop.merge(with: other)
    try phone.merge(with: hub)
    #expect(try list(phone) == list(laptop))
    #expect(try list(phone).count == 2)
  }

  @Test(arguments: [true, false])
  func anotherAccountGetsTheValuesOnlyIfThatIsAskedFor(keepsValues: Bool) throws {
    let device = try device(1)
    try device.merge(with: hub(served.membership()).hub)
    let id = try device.replica()
    try device.leaveHubs(keepsValues: keepsValues)
    let report = try device.merge(with: hub(served.membership()).hub)
    #expect(report.transfers[1].changed == (keepsValues ? 2 : 0))
    #expect(try list(device).count == (keepsValues ? 2 : 0))
    #expect(try device.entry(store: "defaults", key: "own")?.content.value == .integer(1))
    #expect(try (device.replica() == id) == keepsValues)
  }

  @Test func aHubIsNotSyncedInPart() throws {
    let (device, hub) = (try device(1), try hub(served.membership()).hub)
    for options in [MergeOptions(stores: ["cloud"]), MergeOptions(isOneWay: true)] {
      expectError(.invalidValue) { try device.merge(with: hub, options: options) }
    }
  }

  /// Until the answer is whole, nothing of it counts.
  @Test func anAnswerThatIsCutAtAnyByteChangesNothing() throws {
    let membership = try served.membership()
    try device(2).merge(with: hub(membership).hub)
    let reader = try device(1)
    let before = try list(reader)
    let other = try served.membership(beside: membership)
    for cut in 0..<4_000 {
      let isWhole = Mutex(false)
      let (hub, _) = try Hub.scripted(other) { [served, clock] in
        let reply = served.answer($0, at: clock)
        guard case .body(let bytes) = reply.events[1], bytes.count > cut else {
          isWhole.withLock { $0 = true }
          return reply
        }
        return ScriptedTransport.Reply([reply.events[0], .body(Array(bytes.prefix(cut))), .end])
      }
      do throws(KeepsakeError) {
        try reader.merge(with: hub)
        #expect(cut > 100)
        return
      } catch {
        #expect(error.code == .malformed || isWhole.withLock(\.self), "\(cut): \(error)")
        #expect(try list(reader) == before)
      }
    }
    Issue.record("no answer was whole")
  }
}

extension ServedHub {
  func answer(_ request: TransportRequest, at clock: ManualClock) -> ScriptedTransport.Reply {
    self.clock = clock.milliseconds
    return answer(request)
  }
}
