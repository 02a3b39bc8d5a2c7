// SPDX-License-Identifier: Apache-2.0
//
// Figures of devices that sync with a hub of another process by HTTP, in nanoseconds unless another
// unit is named.

import Foundation
import HubCrowd
import Keepsake
import KeepsakeDevice
import KeepsakeHub
import KeepsakeSync
import Synchronization

/// Measurements of a program `kvsync-hub`.
enum HTTPMeasurements {
  static func measure(
    _ kind: String, _ count: Int, _ program: String, postgres: String?
  ) throws -> [Double] {
    let hub = try HTTPHub(program, postgres: postgres, lines: kind == "pushes" ? 64 : 1)
    defer { hub.close() }
    switch kind {
    case "push", "pushes": return [try Measurements.measure(kind, of: hub, count)]
    case "listeners": return try listeners(count, hub)
    default: break
    }
    let first = try Member(hub, joining: nil)
    switch kind {
    case "single": return [try single(count, first)]
    case "heard": return try heard(count, first, Member(hub, joining: first))
    case "up":
      try first.fill(count)
      return [try Measurements.nanoseconds(1) { try first.merge() }]
    case "down":
      try first.fill(count)
      try first.merge()
      let second = try Member(hub, joining: first)
      return [try Measurements.nanoseconds(1) { try second.merge() }]
    case "nothing":
      try first.fill(count)
      for _ in 0..<3 { try first.merge() }
      return [try Measurements.nanoseconds(200) { for _ in 0..<200 { try first.merge() } }]
    default: throw Failure("\(kind) is none of the kinds")
    }
  }

  /// A device with its file, and its account.
  private struct Member {
    private let folder: TemporaryFolder
    let device: Device
    let store: CloudKeyValueStore
    let hub: Hub

    /// - Parameter first: the account's first device; nil if this is the first one.
    init(_ place: HTTPHub, joining first: Member?) throws {
      folder = try TemporaryFolder()
      device = try Device(path: folder.path + "/device.keepsake")
      store = try CloudKeyValueStore(on: device)
      let token =
        try first.map {
          try HubMembership.join(at: place.url, code: $0.hub.invite().code, name: "probe").token
        } ?? place.create().token
      hub = try Hub(place.url, token: token)
    }

    func set(_ key: String, _ value: String) throws { try store.write(.string(value), for: key) }
    func merge() throws { try device.merge(with: hub) }

    func fill(_ count: Int) throws {
      let value = String(repeating: "v", count: 80)
      try store.transaction {
        for key in 0..<count { try set("key \(1_000_000 + key)", value) }
      }
    }
  }

  /// The time of a set and a merge with the hub.
  private static func single(_ count: Int, _ member: Member) throws -> Double {
    for number in 0..<20 {
      try member.set("theme", "warm \(number)")
      try member.merge()
    }
    return try Measurements.nanoseconds(count) {
      for number in 0..<count {
        try member.set("theme", "\(number)")
        try member.merge()
      }
    }
  }

  /// The time from a set on one device until the call of an observer on the other one: the median,
  /// and the 99th percentile.
  private static func heard(_ count: Int, _ a: Member, _ b: Member) throws -> [Double] {
    let (connected, news) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let sessions = [a, b].map { member in
      HubSession(
        member.device, member.hub,
        onState: { if case .connected = $0 { connected.signal() } },
        onFailure: { FileHandle.standardError.write(Data("\($0)\n".utf8)) })
    }
    for _ in sessions {
      guard connected.wait(timeout: .now() + 30) == .success else { throw Failure("no session") }
    }
    let token = b.store.observe(.key("theme")) { _ in news.signal() }
    var times: [Double] = []
    for number in 0..<count + 20 {
      let time = try Measurements.nanoseconds(1) {
        try a.set("theme", "value \(number)")
        guard news.wait(timeout: .now() + 30) == .success else { throw Failure("not heard") }
      }
      if number >= 20 { times.append(time) }
    }
    withExtendedLifetime((sessions, token)) {}
    times.sort()
    return [times[times.count / 2], times[times.count * 99 / 100]]
  }

  /// The cost of event streams without events: bytes of memory for each, and processor nanoseconds
  /// of the hub in a second for all.
  private static func listeners(_ count: Int, _ hub: HTTPHub) throws -> [Double] {
    let (before, _) = try use(of: hub.processID)
    var lines: [HTTPConnection] = []
    for _ in 0..<(count + 3) / 4 {
      let token = try hub.create().token
      for _ in 0..<min(4, count - lines.count) {
        let line = try HTTPConnection(hub.port)
        try line.request("GET /v1/events", token, [])
        _ = try line.read(until: "data: {\"seq\":0}")
        lines.append(line)
      }
    }
    let (after, start) = try use(of: hub.processID)
    // Two beats of each.
    Thread.sleep(forTimeInterval: 50)
    let (_, end) = try use(of: hub.processID)
    return withExtendedLifetime(lines) { [(after - before) / Double(count), (end - start) / 50] }
  }

  /// Bytes that are resident, and processor nanoseconds.
  private static func use(of process: pid_t) throws -> (memory: Double, time: Double) {
    func words(_ file: String) throws -> [Double] {
      let text = try String(contentsOfFile: "/proc/\(process)/\(file)", encoding: .utf8)
      return text.split(separator: " ").map { Double($0) ?? 0 }
    }
    let (memory, state) = (try words("statm"), try words("stat"))
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    return (memory[1] * Double(getpagesize()), (state[13] + state[14]) / ticks * 1e9)
  }
}
