// SPDX-License-Identifier: Apache-2.0
//
// How a device learns that others have written: by server-sent events, or, if a proxy buffers them
// or the token has too many streams, by requests that the hub answers late. An event has the newest
// mark and nothing else, so a lost one costs nothing.

import Foundation
package import KeepsakeDevice
package import KeepsakeSessions
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
    var lines = (line + bytes).split(omittingEmptySubsequences: false) {
      $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
    }
    line = Array(lines.removeLast())
    guard line.count <= Self.limit else { return nil }
    var events: [String] = []
    // A hub's events have one line of data.
    for line in lines where line.starts(with: "data:".utf8) {
      guard let newest = Self.newest(Array(line.dropFirst(5))) else { return nil }
      events.append(newest)
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
  private let listener: SessionLoop.Listener
  private let onEvent: (_ newest: String) -> Void

  /// A hub says something at least so often.
  static let beat = 25

  /// - Parameter onEvent: gets the newest mark of each event, before the session is woken.
  package init(
    _ hub: Hub, _ listener: SessionLoop.Listener, onEvent: @escaping (_ newest: String) -> Void
  ) {
    (self.hub, self.listener, self.onEvent) = (hub, listener, onEvent)
  }

  private func tell(_ newest: String) {
    onEvent(newest)
    listener.onEvent()
  }

  /// Listens until that fails, or the hub ends it.
  package func listen() throws(KeepsakeError) {
    var hasHeard = false
    // Otherwise all devices of a hub that ends would ask for it in the same moment.
    defer { if hasHeard { listener.pause(.seconds(listener.chance())) } }
    do throws(KeepsakeError) {
      var parser = EventParser()
      try client.read(request("/events", .events)) { piece throws(KeepsakeError) in
        hasHeard = true
        guard let events = parser.take(piece) else {
          throw HubFailure.malformed(client.url, "is no stream of events")
        }
        for newest in events { tell(newest) }
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
    request.onBegin = { exchange in listener.onBegin { exchange.cancel() } }
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
      if isNews { tell(newest) }
      last = newest
      hasty = start.duration(to: client.now()) < .seconds(1) ? hasty + 1 : 0
      if hasty > 1 { listener.pause(pauseLength(after: hasty - 1, isNews)) }
    }
  }

  /// Longer each time that a hub does not wait though it has nothing to tell.
  private func pauseLength(after hasty: Int, _ isNews: Bool) -> Duration {
    let longest = isNews ? 1 : Double(min(1 << min(hasty - 1, 10), Self.beat))
    return .seconds(longest / 2 * (1 + listener.chance()))
  }
}
