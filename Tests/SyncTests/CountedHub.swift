// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeTesting
import KeepsakeValues

@testable import KeepsakeSync

/// A hub of this process, and what was asked of it.
final class CountedHub: HubChannel {
  let name = "hub"
  let hub: MemoryHub
  let clock: ManualClock
  var requests: [HubRequest] = []
  var lastMet: ReplicaID?
  var change: (inout HubAnswer) -> Void = { _ in }

  init(_ hub: MemoryHub, _ clock: ManualClock) { (self.hub, self.clock) = (hub, clock) }

  func noteMet(_ hub: ReplicaID) { lastMet = hub }

  func send(_ request: HubRequest) throws(KeepsakeError) -> Result<HubAnswer, HubRefusal> {
    requests.append(request)
    do {
      return try hub.answer(request, at: clock.milliseconds).map { answer in
        var answer = answer
        change(&answer)
        return answer
      }
    } catch {
      throw KeepsakeError(error, path: name)
    }
  }
}
