// SPDX-License-Identifier: Apache-2.0

import Foundation
import HubScript
import KeepsakeDevice
import KeepsakeHub
import KeepsakeHubServer
import KeepsakeSessions
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

private func text(_ request: TransportRequest) -> String {
  String(decoding: request.body ?? [], as: UTF8.self)
}

/// A device whose requests are refused.
@Suite struct HubRefusalTests: ServedHubSuite {
  let clock = ManualClock()
  let served = ServedHub()

  private func device(_ id: Int64) throws -> Device {
    let device = try Device.inMemory(clock: clock)
    try device.write([LocalWrite(store: "cloud", key: "k\(id)", value: .integer(id))])
    return device
  }

  /// Others push faster than its requests come and go.
  @Test func othersThatPushAllTheTimeDoNotKeepADeviceOut() throws {
    let first = try served.membership()
    let (phone, laptop) = (try device(1), try device(2))
    try phone.write([LocalWrite(store: "cloud", key: "j", value: 1)])
    let other = try hub(served.membership(beside: first)).hub
    let count = Atomic<Int64>(0)
    let (hub, transport) = try self.hub(first) { request in
      guard request.method == "POST" else { return nil }
      #expect(throws: Never.self) {
        try laptop.set("n", .integer(count.add(1, ordering: .relaxed).newValue))
        try laptop.merge(with: other)
      }
      return nil
    }
    #expect(try HubSync(phone, hub.channel(), pageSize: 1).run())
    #expect(transport.requests.map(\.method) == ["GET", "POST", "POST"])
    try laptop.merge(with: other)
    try phone.merge(with: hub)
    #expect(try phone.lines() == laptop.lines())
  }

  /// Also at the first sync.
  @Test func aRowThatNoDeviceWouldReadIsNotSent() throws {
    let device = try device(1)
    try device.execute(
      """
      INSERT INTO entry SELECT 'cloud', 'large', 1, printf('%.*c', 1500000, 'x'), 1, id, 99
      FROM replica
      """)
    let (hub, transport) = try self.hub(served.membership())
    for _ in 0..<2 {
      let report = try device.merge(with: hub)
      #expect(report.events == [.tooLarge(store: "cloud", key: "large")])
      #expect(!report.hasConverged)
    }
    #expect(!transport.requests.contains { ($0.body ?? []).count > 1_000_000 })
  }

  @Test func aTombstoneWithALongKeyIsReadByOthers() throws {
    let membership = try served.membership()
    let (phone, laptop) = (try device(1), try Device.inMemory(clock: clock))
    try phone.execute(
      "UPDATE entry SET key = printf('%.*c', 1025, 'x'), type = 0, value = NULL")
    try phone.merge(with: hub(membership).hub)
    let other = try hub(served.membership(beside: membership)).hub
    #expect(try laptop.merge(with: other).hasConverged)
    #expect(try phone.lines() == laptop.lines())
  }

  @Test func markAndVectorsAreSentThoughTheLastPageIsRefused() throws {
    let device = try device(1)
    try device.write([LocalWrite(store: "cloud", key: "refused", value: 1)])
    let (hub, transport) = try self.hub(served.membership()) { request in
      let lines = text(request).split(separator: "\n")
      guard let place = lines.firstIndex(where: { $0.contains("refused") }) else { return nil }
      return .problem(413, "too-large", "row", more: #","line":\#(place + 1)"#)
    }
    #expect(try HubSync(device, hub.channel(), pageSize: 1).run())
    let last = transport.requests.last { $0.method == "POST" }.map(text)
    #expect(last?.contains(#"{"rows":0,"mark":"#) == true)
  }

  /// A session that waits for nothing but its device.
  @Test func aSessionDoesNotSendAgainWhatWasRefused() throws {
    let device = try device(1)
    let large = StoredValue.string(String(repeating: "x", count: 900))
    let (hub, transport) = try Hub.scripted(served.membership()) { [served, clock] request in
      guard request.url.path.hasSuffix("/rows") else { return .problem(503, "busy", "later") }
      return text(request).contains("xxx")
        ? ScriptedTransport.Reply(413, "<html>", type: "text/html")
        : served.answer(request, at: clock)
    }
    try device.write([LocalWrite(store: "cloud", key: "large", value: large)])
    let done = DispatchSemaphore(value: 0)
    let timing = SessionTiming(
      now: { clock.milliseconds }, wait: { signal, _ in signal.wait() }, chance: { 1 })
    let session = HubSession(device, hub, MergeOptions(), timing) { _ in
    } onSync: { _ in
      done.signal()
    } onFailure: { _ in
    }
    defer { session.cancel() }
    func sent(_ part: String) -> Int { transport.requests.count { text($0).contains(part) } }
    #expect(done.wait(timeout: .now() + 60) == .success)
    let before = sent("xxx")
    try device.write([LocalWrite(store: "cloud", key: "small", value: 1)])
    #expect(done.wait(timeout: .now() + 60) == .success)
    #expect(sent("small") == 1 && sent("xxx") == before)
  }

  @Test func theLongestEntryOfADeviceIsNotTooLongForAHub() throws {
    let (device, other) = (try Device.inMemory(clock: clock), try Device.inMemory(clock: clock))
    let store = "cloud:" + String(repeating: "s", count: 1_024 - 6)
    let key = String(repeating: "k", count: 1_024)
    try device.write([LocalWrite(store: store, key: key, value: 1)])
    let first = try served.membership()
    let report = try device.merge(with: hub(first).hub)
    #expect(report.hasConverged && report.events == [])
    try other.merge(with: hub(served.membership(beside: first)).hub)
    #expect(try other.lines() == device.lines())
  }

  /// The answer that says so has no rows, and no limit of them.
  @Test func aRowMayBeAsLongAsAHubAcceptsThoughItHasNothingNew() throws {
    var limits = HubLimits()
    limits.rowBytes = 4_000_000
    let served = ServedHub(limits: limits)
    let device = try device(1)
    let (hub, _) = try Hub.scripted(served.membership()) { [clock] in
      served.answer($0, at: clock)
    }
    try device.merge(with: hub)
    // Each character has six bytes in JSON.
    let large = StoredValue.string(String(repeating: "\u{1}", count: 500_000))
    try device.write([LocalWrite(store: "cloud", key: "large", value: large)])
    let report = try device.merge(with: hub)
    #expect(report.hasConverged && report.events == [])
  }

  /// Lets a file have read writes of as many replicas as it may, in four stores.
  private func seeManyReplicas(_ device: Device) throws {
    try device.execute(
      """
      WITH RECURSIVE
        n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 4105),
        s (store) AS (VALUES ('cloud'), ('cloud:a'), ('cloud:b'), ('cloud:c'))
      INSERT INTO seen SELECT store, i, i FROM s, n
      """)
  }

  @Test func vectorsOfManyReplicasAreShortenedForAHub() throws {
    let device = try device(1)
    try seeManyReplicas(device)
    let report = try device.merge(with: hub(served.membership()).hub)
    #expect(report.hasConverged && report.events == [])
  }

  @Test(arguments: [true, false])
  func vectorsThatAreTooLongAreNotTheFaultOfARow(isToldByHub: Bool) throws {
    var limits = HubLimits()
    if isToldByHub { limits.vectorBytes = 1_000 }
    let (device, served) = (try device(1), ServedHub(limits: limits))
    try seeManyReplicas(device)
    let (hub, _) = try Hub.scripted(served.membership()) { [clock] request in
      if !isToldByHub, (request.body ?? []).count > 100_000 {
        return ScriptedTransport.Reply(413, "<html>", type: "text/html")
      }
      return served.answer(request, at: clock)
    }
    expectError(.tooLarge) { try device.merge(with: hub) }
    let held = try device.tables.read { try $0.hubs.cursor(of: hub.account).held }
    #expect(held == [])
  }

  @Test func aSessionOffersARowThatWasRefusedOnceADay() throws {
    let (device, refused) = (try device(1), RefusedRows())
    let large = StoredValue.string(String(repeating: "x", count: 900))
    let (limited, transport) = try self.hub(served.membership()) { request in
      (request.body ?? []).count > 800
        ? ScriptedTransport.Reply(413, "<html>", type: "text/html") : nil
    }
    try device.write([LocalWrite(store: "cloud", key: "large", value: large)])
    var counts: [Int] = []
    for hours in [0, 23, 1] {
      clock.advance(by: .seconds(hours * 3_600))
      refused.renew(at: clock.milliseconds)
      let before = transport.requests.count { $0.method == "POST" }
      let report = try Merge.run(device, with: limited.channel(refused: refused))
      #expect(report.events == [.tooLarge(store: "cloud", key: "large")])
      counts.append(transport.requests.count { $0.method == "POST" } - before)
    }
    #expect(counts[1] == 0 && counts[2] == 1, "\(counts)")
  }
}
