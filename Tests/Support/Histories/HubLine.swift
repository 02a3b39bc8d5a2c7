// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeHub
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues

/// The way from a device to the hub of a history, on which one request goes wrong.
final class HubLine: HubChannel {
  struct Lost: Error {}

  private let hub: any PlayedHub
  private let clock: ManualClock
  private let fault: Encounter.Fault?
  /// Called before each request.
  private let onRequest: () -> Void
  private var requests = 0
  /// A request that has not come yet.
  private(set) var late: HubRequest?
  /// Whether the device has been told that something went wrong.
  private(set) var isCut = false

  let name = "hub"
  /// Kept from meeting to meeting where the device is.
  private(set) var lastMet: ReplicaID?

  init(
    _ hub: any PlayedHub, _ clock: ManualClock, _ fault: Encounter.Fault?, lastMet: ReplicaID?,
    onRequest: @escaping () -> Void
  ) {
    (self.hub, self.clock, self.fault) = (hub, clock, fault)
    self.onRequest = onRequest
    self.lastMet = lastMet
  }

  func noteMet(_ hub: ReplicaID) { lastMet = hub }

  func send(_ request: HubRequest) throws(KeepsakeError) -> Result<HubAnswer, HubRefusal> {
    defer { requests += 1 }
    onRequest()
    guard let fault, fault.number == requests else { return try answer(request) }
    switch fault.kind {
    case .request: break
    case .answer: _ = try answer(request)
    case .late: late = request
    case .double:
      let first = try answer(request)
      _ = try answer(request)
      return first
    }
    isCut = true
    throw KeepsakeError(
      .inputOutput, path: name, "nothing came back", cure: "try again", cause: Lost())
  }

  /// As the hub reads it, and as the device reads what it answers.
  private func answer(
    _ request: HubRequest
  ) throws(KeepsakeError) -> Result<HubAnswer, HubRefusal> {
    do {
      let heard = try request.text().withUnsafeBufferPointer { try HubRequest($0) }
      guard heard == request else { throw Divergence(description: "another request came") }
      let result = try hub.answer(heard, at: clock.milliseconds)
      guard case .success(let answer) = result else { return result }
      let told = try answer.text().withUnsafeBufferPointer { try HubAnswer($0) }
      guard told == answer else { throw Divergence(description: "another answer came") }
      return .success(told)
    } catch {
      throw KeepsakeError(error, path: name)
    }
  }
}
