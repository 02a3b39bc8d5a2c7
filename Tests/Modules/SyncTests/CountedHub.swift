// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues

/// A hub of this process, and what was asked of it.
final class CountedHub: HubChannel {
  let name = "hub"
  let hub: MemoryHub
  let clock: ManualClock
  var requests: [HubRequest] = []
  var lastMet: ReplicaID?
  var change: (inout HubAnswer) -> Void = { _ in }
  /// Whether a request is too large for it.
  var isTooLarge: (HubRequest) -> Bool = { _ in false }

  init(_ hub: MemoryHub, _ clock: ManualClock) { (self.hub, self.clock) = (hub, clock) }

  func noteMet(_ hub: ReplicaID) { lastMet = hub }

  func send(_ request: HubRequest) throws(KeepsakeError) -> Result<HubAnswer, HubRefusal> {
    requests.append(request)
    guard !isTooLarge(request) else { throw tooLarge() }
    do {
      return try hub.answer(request, at: clock.milliseconds).map { answer in
        var answer = answer
        change(&answer)
        return answer
      }
    } catch HubFault.limit(let limit, _) where ["keyBytes", "valueBytes"].contains(limit) {
      throw tooLarge()
    } catch {
      throw KeepsakeError(error, path: name)
    }
  }

  /// As a hub says it over HTTP.
  private func tooLarge() -> KeepsakeError {
    KeepsakeError(.tooLarge, path: name, "too large", cure: "none", cause: HubPageRefusal())
  }
}
