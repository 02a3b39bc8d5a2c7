// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

/// The way to a hub by HTTP, for one merge.
final class HTTPChannel: HubChannel {
  private let hub: Hub
  /// How long it still waits, in all, for a hub that is busy.
  private var patience = Duration.seconds(60)
  /// How long it waits at one time.
  private static let longestPause = Duration.seconds(10)

  init(hub: Hub) { self.hub = hub }

  private var client: HubClient { hub.client }
  var name: String { client.url.description }

  var lastMet: ReplicaID? { hub.lastMet }
  func noteMet(_ id: ReplicaID) { hub.lastMet = id }
  func pause(_ duration: Duration) { client.pause(duration) }

  func send(_ request: HubRequest) throws(KeepsakeError) -> Result<HubAnswer, HubRefusal> {
    let text: [UInt8]
    do {
      text = try request.text()
    } catch {
      throw KeepsakeError(error, path: name)
    }
    let answer: [UInt8]
    do throws(KeepsakeError) {
      answer = try ask(text)
    } catch {
      if let refused = error.cause as? HubFailure.Refused { return .failure(refused.refusal) }
      throw error
    }
    do throws(MessageError) {
      let answer = try answer.withUnsafeBufferPointer { bytes throws(MessageError) in
        try HubAnswer(bytes)
      }
      return .success(answer)
    } catch {
      guard let version = error.version else {
        throw HubFailure.malformed(client.url, "cannot be read, \(error)")
      }
      throw KeepsakeError(
        .incompatible, path: name,
        "it speaks version \(version) of the protocol, this program \(MessageText.version)",
        cure: "update the older one of the two")
    }
  }

  /// Asks, and asks again where the hub is busy for a moment: it has done nothing then.
  private func ask(_ text: [UInt8]) throws(KeepsakeError) -> [UInt8] {
    while true {
      do throws(KeepsakeError) {
        return try client.ask("POST", "/sync", text, as: .lines, for: .lines)
      } catch {
        guard let asked = error.cause as? HubFailure.Pause, asked.isBusy else { throw error }
        let pause = Duration.seconds(max(1, asked.seconds))
        guard pause <= min(Self.longestPause, patience) else { throw error }
        patience -= pause
        client.pause(pause)
      }
    }
  }
}
