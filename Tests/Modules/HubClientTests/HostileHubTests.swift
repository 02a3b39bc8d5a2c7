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

/// A hub that lies.
@Suite struct HostileHubTests {
  private let clock = ManualClock()

  /// Answers each request so.
  private func hub(
    _ head: String, _ rows: [String]
  ) throws -> (hub: Hub, transport: ScriptedTransport) {
    let text = ([head] + rows).joined(separator: "\n") + "\n"
    return try Hub.scripted { [clock] _ in
      ScriptedTransport.Reply(
        200, text, type: "application/jsonl", ["hub-clock": "\(clock.milliseconds)"])
    }
  }

  private func failure(_ head: String, _ rows: [String] = []) throws -> KeepsakeError? {
    let device = try Device.inMemory(clock: clock)
    let (hub, transport) = try hub(head, rows)
    do throws(KeepsakeError) {
      try device.merge(with: hub)
      return nil
    } catch {
      #expect(transport.requests.count < 20)
      return error
    }
  }

  private func head(
    _ rows: Int, cursor: String = "known", isLast: Bool = true, more: String = ""
  ) -> String {
    #"{"newest":"9-000000000000000a","cursor":"\#(cursor)","isLast":\#(isLast),"#
      + #""rows":\#(rows)\#(more)}"#
  }

  private func row(_ number: Int, store: String = "cloud", replica: String = "0000000000000005")
    -> String
  {
    #"{"key":"x","seq":\#(number),"row":{"store":"\#(store)","key":"k\#(number)","type":"string","#
      + #""value":"evil","timestamp":"0000000000000001","replica":"\#(replica)"}}"#
  }

  /// Each page has one row, and says that another one follows.
  private func endlessHub(
    isReadable: Bool = true,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) throws -> Hub {
    let transport = ScriptedTransport { [self] request in
      let after = (request.url.query ?? "").split(separator: "&").compactMap {
        $0.hasPrefix("after=") ? Int($0.dropFirst(6)) : nil
      }
      let number = (after.first ?? 0) + 1
      let row = isReadable ? row(number) : #"{"key":"k\#(number)","seq":\#(number),"row":[]}"#
      let text = head(1, isLast: false) + "\n" + row + "\n"
      return ScriptedTransport.Reply(
        200, text, type: "application/jsonl", ["hub-clock": "\(clock.milliseconds)"])
    }
    return Hub(try HubURL("https://hub.example"), .test, by: transport, now: now)
  }

  @Test func pagesWithoutEndAreLeftAfterSixHours() throws {
    let start = ContinuousClock.now
    let minutes = Atomic(0)
    let hub = try endlessHub {
      start + .seconds(60 * minutes.add(1, ordering: .relaxed).newValue)
    }
    let device = try Device.inMemory(clock: clock)
    #expect {
      try device.merge(with: hub)
    } throws: { "\($0)".contains("comes too slowly") }
  }

  @Test(arguments: [false, true])
  func rowsWithoutEndAreLeftBeforeTheyFillTheMemory(isReadable: Bool) throws {
    let device = try Device.inMemory(clock: clock)
    let hub = try endlessHub(isReadable: isReadable)
    let sync = HubSync(device, hub.channel(), mostRows: 10)
    #expect { _ = try sync.run() } throws: { "\($0)".contains("never ends") }
    var count = 0
    try device.forEachEntry { _ in count += 1 }
    #expect(count <= 11)
  }

  @Test func aMarkThatNoDeviceHasMadeGivesOneNewReplicaIDInASync() throws {
    let device = try Device.inMemory(clock: clock)
    try device.write([LocalWrite(store: "cloud", key: "k", value: 1)])
    let forged = #","vectors":0,"mark":"1-0000000000000001""#
    let error = #expect(throws: KeepsakeError.self) {
      try device.merge(with: hub(head(0, more: forged), []).hub)
    }
    #expect(error?.problem.contains("names a mark again that no device has made") == true)
    #expect(
      try device.tables.read { try $0.all("SELECT id FROM former_replica") { _ in 1 } }.count == 1)
  }

  @Test func rowsThatAreNotThoseOfThePageAreRefused() throws {
    #expect(try failure(head(2), [row(1)])?.code == .malformed)
    #expect(try failure(head(2), [row(2), row(1)])?.code == .malformed)
  }

  @Test func aRowThatNoDeviceWritesIsReportedAndReadAgain() throws {
    let large = row(1).replacing("evil", with: String(repeating: "x", count: 2 << 20))
    let bad =
      ["defaults", "other", "cloudy"].map { row(1, store: $0) }
      + [row(1, replica: "0000000000000000"), large, "{"]
      + Self.unreadable.map { value in
        row(1).replacing(#""evil""#, with: value)
      }
    for row in bad {
      let device = try Device.inMemory(clock: clock)
      for _ in 0..<2 {
        let report = try device.merge(with: hub(head(2), [row, self.row(2)]).hub)
        #expect(report.events == [.unreadable(count: 1)] && !report.hasConverged)
      }
      #expect(try device.entry(store: "cloud", key: "k2")?.content.value == "evil")
      var count = 0
      try device.forEachEntry { _ in count += 1 }
      #expect(count == 1)
    }
  }

  /// JSON that a hub accepts, and that no device writes.
  private static let unreadable = [#""\ud800""#, "1e999999"]

  @Test(arguments: unreadable)
  func whatAHubAcceptsAndADeviceCannotReadCostsNoOtherRow(value: String) throws {
    let served = ServedHub()
    let membership = try served.membership()
    let (hub, transport) = try Hub.scripted(membership) { [clock] in served.answer($0, at: clock) }
    let writer = try Device.inMemory(clock: clock)
    try writer.write([LocalWrite(store: "cloud", key: "k", value: "v")])
    try writer.merge(with: hub)
    // Something else pushes what no device writes.
    var request = try #require(transport.requests.first { $0.method == "POST" })
    let lines = String(decoding: request.body ?? [], as: UTF8.self).split(separator: "\n")
    request.body = Array(
      """
      {"rows":3,"mark":"m","vectors":{"cloud":\(value)}}
      {"key":"a","row":\(value)}
      {"key":"b","row":{"store":"cloud","key":\(value)}}
      \(lines[1])

      """.utf8)
    let other = try served.membership()
    let address = request.url.absoluteString.replacing(
      "/accounts/\(HexNumber.text(membership.account))/",
      with: "/accounts/\(HexNumber.text(other.account))/")
    request.url = try #require(URL(string: address))
    request.headers["Authorization"] = "Bearer \(other.token)"
    guard case .head(status: 200, _)? = served.answer(request, at: clock).events.first else {
      Issue.record("the hub refuses it")
      return
    }
    let reader = try Device.inMemory(clock: clock)
    let hubOfReader = try Hub.scripted(other) { [clock] in served.answer($0, at: clock) }.hub
    let report = try reader.merge(with: hubOfReader)
    #expect(report.events == [.unreadable(count: 2)])
    #expect(try reader.entry(store: "cloud", key: "k")?.content.value == "v")
  }

  @Test func aHubThatNeverEndsIsLeft() throws {
    #expect(try failure(head(1, isLast: false), [row(1)])?.code == .malformed)
    #expect(try failure(head(0, isLast: false))?.code == .malformed)
    #expect(try failure(head(0, cursor: "unknown"))?.code == .malformed)
  }

  @Test func aMarkOrVectorsThatNoDeviceWritesCountAsNone() throws {
    #expect(try failure(head(0, more: #","mark":"x""#)) == nil)
    for vectors in [#"{"cloud":7}"#, #"{"defaults":{}}"#] {
      #expect(try failure(head(0, more: #","vectors":1"#), [vectors]) == nil)
    }
  }

  @Test(arguments: unreadable)
  func vectorsThatNoDeviceReadsCostNoOthers(value: String) throws {
    let other = #"{"cloud":{"0000000000000005":"0000000000000001"}}"#
    let text = [head(0, more: #","vectors":2"#), #"{"cloud":\#(value)}"#, other, ""]
    let answer = try HubPageAnswer(lines: Array(text.joined(separator: "\n").utf8), clock: 0)
    #expect(answer.vectors.times.count == 1)
  }

  @Test(arguments: ["[", "{\"a\":", "{\"newest\":["])
  func anAnswerThatIsDeepIsRefused(part: String) throws {
    #expect(try failure(String(repeating: part, count: 300_000))?.code == .malformed)
  }
}
