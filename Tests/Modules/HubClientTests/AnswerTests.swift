// SPDX-License-Identifier: Apache-2.0

import Foundation
import HubSupport
import KeepsakeDevice
import KeepsakeHub
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

/// What a device makes of what comes back: errors that say where, what and what to do, and its own
/// rows as they were.
@Suite struct AnswerTests {
  typealias Reply = ScriptedTransport.Reply

  private let clock = ManualClock()

  private func device(_ id: Int64 = 1) throws -> Device {
    let device = try Device.inMemory(
      identity: ReplicaID(rawValue: id), clock: clock.wallClock)
    try device.write([LocalWrite(store: "cloud", key: "theme", value: .string("dark\(id)"))])
    return device
  }

  private func failure(_ device: Device, _ reply: Reply) throws -> KeepsakeError? {
    let (hub, _) = try Hub.scripted { _ in reply }
    do throws(KeepsakeError) {
      try device.merge(with: hub)
      return nil
    } catch {
      return error
    }
  }

  static let failures: [(reply: Reply, code: KeepsakeError.Code, says: String)] = [
    (.error(401, "token", "unknown"), .unauthorized, "it does not know the token: unknown; join"),
    (
      .error(403, "revoked", "phone revoked it on 2026-11-20"), .unauthorized,
      "it refuses the token: phone revoked it on 2026-11-20; join"
    ),
    (
      Reply(
        403, #"{"error":"revoked","problem":"device 1 revoked it","date":1700000000000,"by":1}"#,
        type: "application/json"), .unauthorized,
      "it refuses the token: device 1 revoked it, at 2023-11-14T22:13:20.000Z; join"
    ),
    (.error(404, "path", "no account"), .missing, "no such thing: no account; check"),
    (.error(405, "path", "no such method"), .incompatible, "no such method; update the hub"),
    (.error(400, "malformed", "line 2: no key"), .malformed, "line 2: no key; report"),
    (.error(426, "protocol", "2 only"), .incompatible, "2 only; update"),
    (.error(429, "busy", "slow", ["retry-after": "7"]), .unavailable, "slow; try again in 7 s"),
    (.error(503, "unavailable", "disk"), .unavailable, "out of service: disk; try again later"),
    (.error(507, "full", "100,000 rows"), .full, "the account is full there: 100,000 rows; delete"),
    (.error(500, "defect", "x"), .malformed, "it fails (HTTP 500): x; ask"),
    (.error(413, "page", "large"), .tooLarge, "no request of this size: large; make"),
    (Reply(413, "<html>", type: "text/html"), .tooLarge, "no request of this size; make"),
    (Reply(502, "<html>", type: "text/html"), .unavailable, "out of service; try"),
    (Reply(200, "<html>", type: "text/html"), .unreachable, "(HTTP 200, text/html); check"),
    (Reply(200, "{}"), .unreachable, "(HTTP 200); check"),
    (Reply(401, "", type: "text/html"), .unreachable, "no hub of Keepsake"),
    (
      Reply(302, "", type: "text/html", ["location": "https://portal.example/\nx"]), .unreachable,
      "redirects to https://portal.example/ x, which no hub does; name"
    ),
    (Reply(200, "", type: "application/jsonl"), .malformed, "cut off"),
    (Reply(200, "{}\n", type: "application/jsonl"), .malformed, "line 1"),
    (
      Reply(200, #"{"protocol":2,"rows":0}"# + "\n", type: "application/jsonl"), .incompatible,
      "version 2 of the protocol, this program 1; update"
    ),
    (
      Reply(200, #"{"protocol":1,"rows":3}"# + "\n", type: "application/jsonl"), .malformed,
      "is not how many lines follow"
    ),
    (Reply([]), .unreachable, "nothing came back for 30 seconds; check"),
    (Reply([.end]), .malformed, "has no beginning"),
    (
      Reply([], fault: .failed("Connection refused")), .unreachable,
      "cannot be reached (Connection refused); check"
    ),
    (
      Reply(
        [.head(status: 200, headers: ["content-type": "application/jsonl"])]
          + Array(repeating: .body([UInt8](repeating: 0x20, count: 1 << 20)), count: 17)),
      .malformed, "longer than 16 MiB"
    ),
  ]

  @Test(arguments: failures.indices)
  func whatIsNoAnswerIsAnErrorAndTheDeviceKeepsItsRows(place: Int) throws {
    let (reply, code, says) = Self.failures[place]
    let device = try device()
    let before = try device.list()
    let error = try #require(try failure(device, reply))
    #expect(error.code == code && error.path == "https://hub.example/keep", "\(error)")
    #expect(error.description.contains(says), "\(error)")
    #expect(!error.description.contains("\n") && !error.description.contains(Hub.token))
    #expect(try device.list() == before)
  }

  @Test func nothingIsNoAnswerToWhoAsksForSomething() throws {
    let (hub, _) = try Hub.scripted { _ in Reply([.head(status: 204, headers: [:]), .end]) }
    #expect(throws: KeepsakeError.self) { try hub.export { _ in } }
    #expect(throws: KeepsakeError.self) { _ = try hub.devices() }
    #expect(throws: KeepsakeError.self) { _ = try hub.invite() }
    try hub.revoke(2)
  }

  @Test func aBusyHubTellsHowLongToWait() throws {
    let busy = Reply.error(429, "busy", "slow", ["retry-after": "7"])
    #expect(try failure(device(), busy)?.retryAfter == .seconds(7))
    #expect(try failure(device(), .error(503, "unavailable", "x"))?.retryAfter == nil)
  }

  @Test func anAnswerThatDripsIsLeftAfterTenMinutes() throws {
    let drops = Array(repeating: TransportEvent.body([0x20]), count: 1000)
    let head = TransportEvent.head(status: 200, headers: ["content-type": "application/jsonl"])
    let transport = ScriptedTransport { _ in ScriptedTransport.Reply([head] + drops) }
    let start = ContinuousClock.now
    let seconds = Mutex(0)
    let hub = try Hub(HubURL("https://hub.example/keep"), token: Hub.token, by: transport) {
      start + .seconds(
        seconds.withLock { seconds in
          seconds += 29
          return seconds
        })
    }
    let device = try device()
    #expect {
      try device.merge(with: hub)
    } throws: { "\($0)".contains("takes longer than 10 minutes") }
  }

  @Test(arguments: [("-5", 0, 0), ("1000000000", 3600, 300), ("86400", 3600, 300)])
  func anAbsurdPauseIsBounded(text: String, hubs: Int, proxys: Int) throws {
    let busy = Reply.error(429, "busy", "slow", ["retry-after": text])
    #expect(try failure(device(), busy)?.retryAfter == .seconds(hubs))
    let proxy = Reply(503, "<html>", type: "text/html", ["retry-after": text])
    #expect(try failure(device(), proxy)?.retryAfter == .seconds(proxys))
    let date = Reply.error(429, "busy", "x", ["retry-after": "Wed, 25 Nov 2026 12:00:00 GMT"])
    #expect(try failure(device(), date)?.retryAfter == nil)
  }

  @Test func devicesMeetThroughTextAlone() throws {
    let (served, clock) = (ServedHub(), clock)
    let (hub, transport) = try Hub.scripted { served.answer($0, at: clock.milliseconds) }
    let (phone, laptop) = (try device(1), try device(2))
    #expect(try phone.merge(with: hub).hasConverged)
    try laptop.merge(with: hub)
    try phone.merge(with: hub)
    #expect(try phone.list() == laptop.list())
    for request in transport.requests {
      #expect(request.url.absoluteString == "https://hub.example/keep/v1/sync")
      #expect(request.method == "POST")
      #expect(request.headers["Authorization"] == "Bearer \(Hub.token)")
    }
  }

  /// Until the answer is whole, nothing of it counts.
  @Test func anAnswerThatIsCutAtAnyByteChangesNothing() throws {
    let (served, clock) = (ServedHub(), clock)
    let (whole, _) = try Hub.scripted { served.answer($0, at: clock.milliseconds) }
    try device(2).merge(with: whole)
    let reader = try device(1)
    let before = try reader.list()
    for cut in 0..<4000 {
      let (hub, transport) = try Hub.scripted { request in
        let reply = served.answer(request, at: clock.milliseconds)
        guard case .body(let bytes) = reply.events[1] else { return reply }
        let isLast = bytes.count <= cut
        return Reply([reply.events[0], .body(Array(bytes.prefix(cut))), .end], fault: nil)
          .unless(isLast, reply)
      }
      do throws(KeepsakeError) {
        try reader.merge(with: hub)
        #expect(cut > 100)
        return
      } catch {
        #expect(error.code == .malformed, "\(cut): \(error)")
        if transport.requests.count == 1 { #expect(try reader.list() == before) }
      }
    }
    Issue.record("no answer was whole")
  }

  @Test func aRequestThatIsTooLargeIsHalved() throws {
    let (served, clock) = (ServedHub(), clock)
    let phone = try device()
    for number in 0..<20 {
      try phone.write([LocalWrite(store: "cloud", key: "k\(number)", value: .integer(1))])
    }
    let (hub, transport) = try Hub.scripted { request in
      let lines = (request.body ?? []).count { $0 == UInt8(ascii: "\n") }
      return lines > 7
        ? .error(413, "page", "6 rows") : served.answer(request, at: clock.milliseconds)
    }
    #expect(try phone.merge(with: hub).hasConverged)
    #expect(transport.requests.count > 6)
  }
}

extension ScriptedTransport.Reply {
  fileprivate func unless(_ condition: Bool, _ other: Self) -> Self { condition ? other : self }
}

extension Device {
  fileprivate func list() throws -> [String] {
    var all: [String] = []
    try forEachEntry { all.append("\($0)") }
    return all
  }
}
