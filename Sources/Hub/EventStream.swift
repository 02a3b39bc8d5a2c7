// SPDX-License-Identifier: Apache-2.0
//
// How a device learns that others have written: by server-sent events, or, if a proxy buffers them
// or the token has too many streams, by requests that the hub answers late. An event has the newest
// mark and nothing else, so a lost one costs nothing.

import Foundation
package import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

/// Reads server-sent events, however they are cut.
package struct EventParser {
  private var line: [UInt8] = []
  /// Bytes of a line; ours are short.
  private static let limit = 1 << 16

  package init() {}

  /// - Returns: the marks of the events that have come; nil if it is no such stream.
  package mutating func take(_ bytes: [UInt8]) -> [String]? {
    var events: [String] = []
    for byte in bytes {
      guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
        line.append(byte)
        guard line.count <= Self.limit else { return nil }
        continue
      }
      // A hub's events have one line of data.
      if line.starts(with: "data:".utf8) {
        guard let newest = Self.newest(Array(line.dropFirst(5))) else { return nil }
        events.append(newest)
      }
      line = []
    }
    return events
  }

  /// The mark of `{"newest":MARK}`.
  static func newest(_ text: [UInt8]) -> String? {
    guard case .string(let newest)? = JSON.read(text)?["newest"] else { return nil }
    return newest
  }
}

package struct EventStream {
  private let hub: Hub
  private var client: HubClient { hub.client }
  /// Gets each request, to cancel it.
  let onBegin: @Sendable (any TransportExchange) -> Void
  let onEvent: @Sendable (_ newest: String) -> Void
  /// Lets time pass, until the request is to be cancelled.
  let pause: @Sendable (Duration) -> Void
  /// From 0 to 1.
  let chance: @Sendable () -> Double

  /// A hub says something at least so often.
  static let beat = 25

  package init(
    _ hub: Hub, onBegin: @escaping @Sendable (any TransportExchange) -> Void,
    onEvent: @escaping @Sendable (_ newest: String) -> Void,
    pause: @escaping @Sendable (Duration) -> Void, chance: @escaping @Sendable () -> Double
  ) {
    self.hub = hub
    (self.onBegin, self.onEvent, self.pause, self.chance) = (onBegin, onEvent, pause, chance)
  }

  /// Listens until that fails, or the hub ends it.
  package func listen() throws(KeepsakeError) {
    var hasHeard = false
    do throws(KeepsakeError) {
      var parser = EventParser()
      try client.read(request("/events", .events)) { piece throws(KeepsakeError) in
        hasHeard = true
        guard let events = parser.take(piece) else {
          throw HubFailure.malformed(client.url, "is no stream of events")
        }
        for newest in events { onEvent(newest) }
      }
    } catch {
      // A poll that waits would count as a stream.
      let isOneTooMany = (error.cause as? HubProblem)?.limit == "streams"
      let isBuffered = !hasHeard && error.cause as? TransportFault == .silent
      guard isBuffered || isOneTooMany else { throw error }
      try poll(wait: isOneTooMany ? 0 : Self.beat)
    }
  }

  private func request(_ path: String, _ kind: HubClient.Kind) -> HubRequest {
    var request = HubRequest("GET", hub.path(path))
    (request.kind, request.timeout) = (kind, .seconds(2 * Self.beat))
    request.onBegin = onBegin
    return request
  }

  private func poll(wait: Int) throws(KeepsakeError) {
    var last = HubCursor.beginning
    // Answers in a row that came at once. A hub answers the first one so, and it may have news.
    var hasty = 0
    while true {
      let start = client.now()
      let response = try client.send(
        request("/events?after=\(last)&wait=\(wait)", .json))
      guard let newest = EventParser.newest(response.body) else {
        throw HubFailure.malformed(client.url, "is no event")
      }
      let isNews = newest != last
      if isNews { onEvent(newest) }
      last = newest
      hasty = start.duration(to: client.now()) < .seconds(1) ? hasty + 1 : 0
      if hasty > 1 { pause(pauseLength(after: hasty - 1, isNews)) }
    }
  }

  /// Longer each time that a hub does not wait though it has nothing to tell.
  private func pauseLength(after hasty: Int, _ isNews: Bool) -> Duration {
    let longest = isNews ? 1 : Double(min(1 << min(hasty - 1, 10), Self.beat))
    return .seconds(longest / 2 * (1 + chance()))
  }
}
