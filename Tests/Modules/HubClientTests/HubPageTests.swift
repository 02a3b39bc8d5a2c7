// SPDX-License-Identifier: Apache-2.0

import HubScript
import KeepsakeDevice
import KeepsakeHub
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport
import Testing

/// Syncs of more than one page.
@Suite struct HubPageTests {
  private let clock = ManualClock()

  private func hub(
    _ served: ServedHub, _ membership: HubMembership
  ) throws -> (hub: Hub, transport: ScriptedTransport) {
    try Hub.scripted(membership) { [clock] in served.answer($0, at: clock) }
  }

  @Test func anExportHasEachRowOnce() throws {
    var limits = HubLimits()
    limits.pageRows = 4
    let served = ServedHub(limits: limits)
    let (hub, transport) = try hub(served, served.membership())
    let device = try Device.inMemory(clock: clock)
    for number in 0..<10 {
      try device.write([LocalWrite(store: "cloud", key: "k\(number)", value: .integer(1))])
    }
    #expect(try HubSync(device, hub.channel(), pageSize: 4).run())
    let before = transport.requests.count
    var keys: [String] = []
    #expect(try hub.forEachRow { keys.append($0.address.key.string) } == 0)
    #expect(transport.requests.count - before == 3)
    #expect(Set(keys).count == 10 && keys.count == 10)
    let queries = transport.requests[before...].map { $0.url.query ?? "" }
    #expect(queries.allSatisfy { $0.contains("after=") == $0.contains("newest=") })
  }
}
