// SPDX-License-Identifier: Apache-2.0
//
// Notifies a device of other devices' writes: by server-sent events, or by long polling if a proxy
// buffers the events or the token has too many streams. An event has only the newest mark, so a
// lost event does no harm.

import Foundation
package import KeepsakeDevice
package import KeepsakeSessions
import KeepsakeSync
import KeepsakeValues

/// Parses server-sent events from pieces of any size.
package struct EventParser {
  private var line: [UInt8] = []
  /// The maximum number of bytes in a line.
  private static let limit = 1 << 16

  package init() {}

  /// - Returns: the marks of the events that are complete; nil if the bytes are no event stream.
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

  /// The maximum time between two events or comments of a hub, in seconds.
  static let beat = 25

  /// - Parameter onEvent: receives the newest mark of each event, before the session is woken.
  package init(
    _ hub: Hub, _ listener: SessionLoop.Listener, onEvent: @escaping (_ newest: String) -> Void
  ) {
    (self.hub, self.listener, self.onEvent) = (hub, listener, onEvent)
  }

  private func report(_ newest: String) {
    onEvent(newest)
    listener.onEvent()
  }

  /// Reads events until the stream fails, or the hub ends it.
  package func listen() throws(KeepsakeError) {
    var hasReceived = false
    // The devices of a hub that restarts must not all connect at the same moment.
    defer { if hasReceived { listener.pause(.seconds(listener.chance())) } }
    do throws(KeepsakeError) {
      var parser = EventParser()
      try client.read(request("/events", .events)) { piece throws(KeepsakeError) in
        hasReceived = true
        guard let events = parser.take(piece) else {
          throw HubFailure.malformed(client.url, "is no stream of events")
        }
        for newest in events { report(newest) }
      }
    } catch {
      // A poll that waits counts as a stream.
      let hasTooManyStreams = (error.cause as? HubProblem)?.limit == "streams"
      let isBuffered = !hasReceived && error.cause as? TransportFault == .timedOut
      guard isBuffered || hasTooManyStreams else { throw error }
      try poll(wait: hasTooManyStreams ? 0 : Self.beat)
    }
  }

  private func request(_ path: String, _ answerType: HubClient.ContentType) -> HubRequest {
    var request = HubRequest("GET", hub.path(path))
    (request.answerType, request.timeout) = (answerType, .seconds(2 * Self.beat))
    request.onBegin = { exchange in listener.onBegin { exchange.cancel() } }
    return request
  }

  private func poll(wait: Int) throws(KeepsakeError) {
    var last = HubCursor.beginning
    // The number of consecutive answers within a second. The first one is normal: a hub waits only
    // if it has nothing new.
    var earlyAnswers = 0
    while true {
      let start = client.now()
      let response = try client.send(
        request("/events?after=\(last)&wait=\(wait)", .json))
      guard let newest = EventParser.newest(response.body) else {
        throw HubFailure.malformed(client.url, "is no event")
      }
      let hasNews = newest != last
      if hasNews { report(newest) }
      last = newest
      earlyAnswers = start.duration(to: client.now()) < .seconds(1) ? earlyAnswers + 1 : 0
      if earlyAnswers > 1 { listener.pause(pauseLength(after: earlyAnswers - 1, hasNews: hasNews)) }
    }
  }

  /// Doubles with each answer of a hub that neither waits nor has anything new.
  private func pauseLength(after earlyAnswers: Int, hasNews: Bool) -> Duration {
    let longest = hasNews ? 1 : Double(min(1 << min(earlyAnswers - 1, 10), Self.beat))
    return .seconds(longest / 2 * (1 + listener.chance()))
  }
}
