// SPDX-License-Identifier: Apache-2.0

import HubScript
import KeepsakeHub
import TestSupport

/// Tests of devices that reach a hub in memory.
protocol ServedHubSuite {
  var clock: ManualClock { get }
  var served: ServedHub { get }
}

extension ServedHubSuite {
  /// - Parameter change: answers in the hub's place, unless it returns nil.
  func hub(
    _ membership: HubMembership,
    _ change: @escaping @Sendable (TransportRequest) -> ScriptedTransport.Reply? = { _ in nil }
  ) throws -> (hub: Hub, transport: ScriptedTransport) {
    try Hub.scripted(membership) { [served, clock] request in
      change(request) ?? served.answer(request, at: clock)
    }
  }
}
