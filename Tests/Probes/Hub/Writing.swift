// SPDX-License-Identifier: Apache-2.0
//
// How devices of one account converge that write all at once.

import Foundation
import KeepsakeDevice
import KeepsakeHub
import KeepsakeValues

/// Prints how long after the last write each device has what each has written: once a second, at
/// different moments of it.
func measureWriters(_ count: Int, _ port: UInt16, _ secret: String, seconds: Double) throws {
  let url = try HubURL("http://127.0.0.1:\(port)")
  var memberships = [HubMembership.forNewAccount()]
  try memberships[0].create(at: url, secret: secret, name: "0")
  for number in 1..<count {
    let code = try Hub(url, memberships[0]).invite().code
    var membership = try HubMembership(invitation: code)
    try membership.join(at: url, code: code, name: "\(number)")
    memberships.append(membership)
  }
  let devices = try memberships.map { _ in try Device.temporary() }
  let sessions = zip(devices, memberships).map { device, membership in
    HubSession(device, Hub(url, membership)) { report("\($0)") }
  }
  let rounds = Int(seconds)
  for round in 1...rounds {
    for (number, device) in devices.enumerated() {
      try device.write([
        LocalWrite(store: "cloud", key: "of \(number)", value: .integer(Int64(round)))
      ])
      Thread.sleep(forTimeInterval: 1 / Double(count))
    }
  }
  let last = Date()
  for device in devices {
    for number in 0..<count {
      while try device.entry(store: "cloud", key: "of \(number)")?.content.value
        != .integer(Int64(rounds))
      {
        guard -last.timeIntervalSinceNow < 60 else { throw Failure(text: "they do not converge") }
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
  }
  print("\(rounds * count) writes, \(-last.timeIntervalSinceNow) s until all have converged")
  withExtendedLifetime(sessions) {}
}
