// SPDX-License-Identifier: Apache-2.0
//
// How soon a device gets what another one has set, and what devices cost that only listen.

import Foundation
import KeepsakeDevice
import KeepsakeHub
import KeepsakeValues

/// Two devices of one account, each with a session.
final class SessionPair {
  private let devices: [Device]
  private let sessions: [HubSession]

  init(_ port: UInt16, _ secret: String) throws {
    let url = try HubURL("http://127.0.0.1:\(port)")
    devices = [try Device.temporary(), try Device.temporary()]
    var first = HubMembership.forNewAccount()
    try first.create(at: url, secret: secret, name: "a")
    let code = try Hub(url, first).invite().code
    var second = try HubMembership(invitation: code)
    try second.join(at: url, code: code, name: "b")
    sessions = zip(devices, [first, second]).map { device, membership in
      HubSession(device, Hub(url, membership)) { report("\($0)") }
    }
  }

  /// - Returns: nanoseconds from each set to its observer on the other device, sorted.
  func delays(_ count: Int) throws -> [Double] {
    let arrived = DispatchSemaphore(value: 0)
    let token = devices[1].observe { changes in
      if changes.contains(where: { $0.key == "key" }) { arrived.signal() }
    } onFailure: { report("\($0)") }
    defer { withExtendedLifetime((token, sessions)) {} }
    // The first one waits for both to listen.
    let delays = try (0...count).map { round in
      // A session syncs five times a second at most.
      Thread.sleep(forTimeInterval: 0.5)
      return try seconds {
        try devices[0].write([
          LocalWrite(store: "cloud", key: "key", value: .integer(Int64(round)))
        ])
        guard arrived.wait(timeout: .now() + 30) == .success else {
          throw Failure(text: "a set does not arrive")
        }
      }
    }
    return delays.dropFirst().map { $0 * 1e9 }.sorted()
  }
}

/// What the system says of a process.
struct ProcessCost {
  let bytes, processorSeconds: Double

  init(of process: Int32) throws {
    func words(_ file: String) throws -> [Substring] {
      try String(contentsOfFile: "/proc/\(process)/\(file)", encoding: .utf8).split(separator: " ")
    }
    let (pages, times) = (try words("statm"), try words("stat"))
    bytes = Double(Int(pages[1]) ?? 0) * Double(sysconf(Int32(_SC_PAGESIZE)))
    let ticks = times[13...14].reduce(0) { $0 + (Int($1) ?? 0) }
    processorSeconds = Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}

/// Prints what each of so many listeners takes of the hub.
func measureListeners(
  _ count: Int, _ port: UInt16, _ secret: String, hub: Int32, seconds: Double
) throws {
  // The first ones make what all share.
  let first = try (0..<10).map { _ in try HTTPDevice(port, secret) }
  for device in first { try device.listen() }
  let before = try ProcessCost(of: hub)
  let devices = try (0..<count).map { _ in try HTTPDevice(port, secret) }
  for device in devices { try device.listen() }
  let middle = try ProcessCost(of: hub)
  Thread.sleep(forTimeInterval: seconds)
  let after = try ProcessCost(of: hub)
  let bytes = (after.bytes - before.bytes) / Double(count)
  let time = (after.processorSeconds - middle.processorSeconds) / seconds
  print("\(Int(bytes)) bytes of each, \(Int(time * 1e9)) ns of all in a second")
  withExtendedLifetime((first, devices)) {}
}

func report(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
