// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

/// The way to a hub by HTTP.
struct HTTPChannel: HubChannel {
  let hub: Hub

  private var client: HubClient { hub.client }
  var name: String { client.url.description }

  var lastMet: ReplicaID? { hub.lastMet }
  func noteMet(_ id: ReplicaID) { hub.lastMet = id }

  func send(_ request: HubRequest) throws(KeepsakeError) -> Result<HubAnswer, HubRefusal> {
    let text: [UInt8]
    do {
      text = try request.text()
    } catch {
      throw KeepsakeError(error, path: name)
    }
    let answer: [UInt8]
    do throws(KeepsakeError) {
      answer = try client.ask("POST", "/sync", text, as: .lines, for: .lines)
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
}
