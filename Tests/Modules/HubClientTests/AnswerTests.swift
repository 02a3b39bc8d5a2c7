// SPDX-License-Identifier: Apache-2.0

import Foundation
import HubScript
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
    (.problem(401, "token", "unknown"), .unauthorized, "does not know the token: unknown; join"),
    (.problem(403, "code", "it has ended"), .unauthorized, "the code: it has ended; ask"),
    (.problem(404, "path", "no account"), .missing, "no such thing: no account; check"),
    (.problem(400, "malformed", "line 2: no key"), .malformed, "line 2: no key; report"),
    (.problem(418, "later", "new"), .incompatible, "(HTTP 418): new; update"),
    (
      .problem(429, "too-many", "slow", ["retry-after": "70"]), .unavailable,
      "slow; try again in 70 s"
    ),
    (.problem(503, "unavailable", "disk"), .unavailable, "out of service: disk; try again later"),
    (.problem(507, "full", "100,000 rows"), .full, "full there: 100,000 rows; delete"),
    (.problem(413, "too-large", "large"), .tooLarge, "no request of this size: large; make"),
    (Reply(413, "<html>", type: "text/html"), .tooLarge, "no request of this size; make"),
    (Reply(502, "<html>", type: "text/html"), .unavailable, "out of service; try"),
    (Reply(200, "<html>", type: "text/html"), .unreachable, "(HTTP 200, text/html); check"),
    (Reply(200, "{}"), .unreachable, "(HTTP 200); check"),
    (Reply(401, "", type: "text/html"), .unreachable, "no hub of Keepsake"),
    (
      Reply(302, "", type: "text/html", ["location": "https://portal.example/\nx"]), .unreachable,
      "redirects to https://portal.example/ x, which no hub does; name"
    ),
    (Reply(200, "{}", type: "application/jsonl", ["hub-clock": "1"]), .malformed, "cut off"),
    (Reply(200, "{}\n", type: "application/jsonl"), .malformed, "has no time"),
    (
      Reply(200, "{}\n", type: "application/jsonl", ["hub-clock": "1"]), .malformed, "line 1"
    ),
    (
      Reply(200, "{}\n", type: "application/jsonl", ["hub-clock": "\(Int64.max)"]), .malformed,
      "has no time"
    ),
    (
      Reply(200, #"{"newest":"x"}"# + "\n", type: "application/jsonl", ["hub-clock": "1"]),
      .malformed, "line 1: there is no mark"
    ),
    (
      Reply(
        200, #"{"newest":"1-000000000000000a","cursor":"known","isLast":true,"rows":200000}"#
          + String(repeating: "\n", count: 200_001), type: "application/jsonl", ["hub-clock": "1"]),
      .malformed, "is wrong"
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
    let before = try device.lines()
    let error = try #require(try failure(device, reply))
    #expect(error.code == code && error.path == "https://hub.example/keep", "\(error)")
    #expect(error.description.contains(says), "\(error)")
    #expect(!error.description.contains("\n"))
    #expect(!error.description.contains(HubMembership.test.token))
    #expect(try device.lines() == before)
  }

  @Test func anEmptyAnswerIsAnErrorWhereSomethingWasAskedFor() throws {
    let (hub, _) = try Hub.scripted { _ in Reply([.head(status: 204, headers: [:]), .end]) }
    #expect(throws: KeepsakeError.self) { try hub.forEachRow { _ in } }
    #expect(throws: KeepsakeError.self) { _ = try hub.devices() }
    #expect(throws: KeepsakeError.self) { _ = try hub.invite() }
    try hub.revoke(2)
  }

  @Test func aBusyHubTellsHowLongToWait() throws {
    let busy = Reply.problem(429, "too-many", "slow", ["retry-after": "77"])
    #expect(try failure(device(), busy)?.retryAfter == .seconds(77))
    #expect(try failure(device(), .problem(503, "unavailable", "x"))?.retryAfter == nil)
  }

  /// A proxy may buffer a body, so that the device sees no progress while the hub receives it.
  @Test func theAnswerToALargeBodyMayTakeASecondForEachKiB() throws {
    let device = try device()
    let value = StoredValue.string(String(repeating: "x", count: 300 << 10))
    try device.write([LocalWrite(store: "cloud", key: "large", value: value)])
    let served = ServedHub()
    let (hub, transport) = try Hub.scripted(served.membership()) { [clock] in
      served.answer($0, at: clock)
    }
    #expect(try device.merge(with: hub).hasConverged)
    #expect(transport.longestWait > .seconds(330) && transport.longestWait < .seconds(340))
  }

  /// Merges with a hub whose answer never says anything.
  ///
  /// - Returns: whether the device left it because it comes too slowly.
  private func leaves(
    _ drops: Int, of size: Int, _ seconds: @escaping @Sendable () -> Int
  ) throws -> Bool {
    let drop = TransportEvent.body([UInt8](repeating: 0x20, count: size))
    let head = TransportEvent.head(status: 200, headers: ["content-type": "application/jsonl"])
    let transport = ScriptedTransport { _ in
      ScriptedTransport.Reply([head] + Array(repeating: drop, count: drops))
    }
    let start = ContinuousClock.now
    let hub = Hub(try HubURL("https://hub.example/keep"), .test, by: transport) {
      start + .seconds(seconds())
    }
    let device = try device()
    let error = #expect(throws: KeepsakeError.self) { try device.merge(with: hub) }
    return try #require(error).problem.contains("comes too slowly")
  }

  /// With drops of 1 byte, and of 64 KiB.
  @Test(arguments: [1, 64 << 10])
  func anAnswerThatDripsIsLeftAfterTenMinutesButNotASlowOne(size: Int) throws {
    let moments = Atomic(0)
    let isLeft = try leaves(100, of: size) {
      29 * moments.add(1, ordering: .relaxed).newValue
    }
    #expect(isLeft == (size == 1))
  }

  @Test func anAnswerEndsWithTheSixHoursOfItsSync() throws {
    let moments = Atomic(0)
    let isLeft = try leaves(200, of: 64 << 10) {
      // The sync has begun five hours before the answer.
      let before = moments.add(1, ordering: .relaxed).oldValue
      return before == 0 ? 0 : 60 * (299 + before)
    }
    #expect(isLeft)
  }

  @Test(arguments: [("-5", 0), ("301", 300), ("1000000000", 300)])
  func anAbsurdPauseIsBounded(text: String, bounded: Int) throws {
    let busy = Reply.problem(503, "unavailable", "slow", ["retry-after": text])
    #expect(try failure(device(), busy)?.retryAfter == .seconds(bounded))
    let proxy = Reply(503, "<html>", type: "text/html", ["retry-after": text])
    #expect(try failure(device(), proxy)?.retryAfter == .seconds(bounded))
    let date = Reply.problem(429, "too-many", "x", ["retry-after": "Wed, 25 Nov 2026 12:00:00 GMT"])
    #expect(try failure(device(), date)?.retryAfter == nil)
  }
}
