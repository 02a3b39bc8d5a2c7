// SPDX-License-Identifier: Apache-2.0
//
// How a device hears that others have written: server-sent events, or, where a proxy keeps these
// back until they end, requests that the hub answers late. An event tells no more than a sequence
// number, so one that is lost costs nothing: who hears nothing for long begins again, and looks.

import Foundation
package import KeepsakeDevice
import KeepsakeValues

/// Reads server-sent events, however they are cut.
package struct EventParser {
  private var line: [UInt8] = []
  private var data: [UInt8] = []
  private var endedByReturn = false
  /// Bytes of a line and of an event; ours are short.
  private static let limit = 1 << 16

  package init() {}

  /// - Returns: the sequence numbers of the events that have ended; nil where it is no such stream.
  package mutating func take(_ bytes: [UInt8]) -> [Int64]? {
    var events: [Int64] = []
    for byte in bytes {
      defer { endedByReturn = byte == UInt8(ascii: "\r") }
      switch byte {
      case UInt8(ascii: "\n") where endedByReturn: continue
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        guard endLine(&events) else { return nil }
      default: line.append(byte)
      }
      guard line.count + data.count <= Self.limit else { return nil }
    }
    return events
  }

  private mutating func endLine(_ events: inout [Int64]) -> Bool {
    defer { line = [] }
    if line.isEmpty {
      defer { data = [] }
      guard !data.isEmpty else { return true }
      guard let seq = Self.seq(data) else { return false }
      events.append(seq)
    } else if line.starts(with: "data:".utf8) {
      data += line.dropFirst(5)
    }
    return true
  }

  /// Of `{"seq":N}`.
  static func seq(_ text: [UInt8]) -> Int64? {
    do {
      let json = try JSON(parsing: String(decoding: text, as: UTF8.self))
      return try MessageMembers(json, "the event").count("seq")
    } catch {
      return nil
    }
  }
}

package struct EventStream {
  let client: HubClient
  /// Gets each request, to cancel it.
  let onBegin: @Sendable (any TransportExchange) -> Void
  let onEvent: @Sendable (_ seq: Int64) -> Void
  /// Lets time pass, until the request is to be cancelled.
  let pause: @Sendable (Duration) -> Void
  /// From 0 to 1.
  let chance: @Sendable () -> Double

  /// A hub says something at least so often.
  static let beat = 25

  package init(
    _ hub: Hub, onBegin: @escaping @Sendable (any TransportExchange) -> Void,
    onEvent: @escaping @Sendable (_ seq: Int64) -> Void,
    pause: @escaping @Sendable (Duration) -> Void, chance: @escaping @Sendable () -> Double
  ) {
    client = hub.client
    (self.onBegin, self.onEvent, self.pause, self.chance) = (onBegin, onEvent, pause, chance)
  }

  /// Listens until that fails, or the hub ends it.
  package func listen() throws(KeepsakeError) {
    var hasHeard = false
    do throws(KeepsakeError) {
      var parser = EventParser()
      try client.read(
        "GET", "/events", for: .events, patience: .seconds(2 * Self.beat), onBegin: onBegin
      ) { piece throws(KeepsakeError) in
        hasHeard = true
        guard let events = parser.take(piece) else {
          throw HubFailure.malformed(client.url, "is no stream of events")
        }
        for seq in events { onEvent(seq) }
      }
    } catch {
      guard !hasHeard, error.cause as? TransportFault == .silent else { throw error }
      try poll()
    }
  }

  private func poll() throws(KeepsakeError) {
    var last: Int64 = 0
    // Answers in a row that came at once. A hub answers the first one so, and it may have news.
    var hasty = 0
    while true {
      let start = client.now()
      var bytes: [UInt8] = []
      try client.read(
        "GET", "/events?after=\(last)&wait=\(Self.beat)", for: .json,
        patience: .seconds(2 * Self.beat), onBegin: onBegin
      ) { piece throws(KeepsakeError) in
        guard bytes.count + piece.count < 1 << 16 else {
          throw HubFailure.malformed(client.url, "is longer than an event")
        }
        bytes += piece
      }
      guard let seq = EventParser.seq(bytes) else {
        throw HubFailure.malformed(client.url, "is no event")
      }
      let isNews = seq != last
      if isNews { onEvent(seq) }
      last = seq
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
