// SPDX-License-Identifier: Apache-2.0
//
// How a device hears that others have written: server-sent events, or, where a proxy keeps these
// back until they end, requests that the hub answers late. An event tells no more than a sequence
// number, so one that is lost costs nothing: who hears nothing for long begins again, and looks.

import Foundation
import KeepsakeDevice
import KeepsakeValues

/// Reads server-sent events, however they are cut.
struct EventParser {
  private var line: [UInt8] = []
  private var data: [UInt8] = []
  private var endedByReturn = false
  /// Bytes of a line and of an event; ours are short.
  private static let limit = 1 << 16

  /// - Returns: the sequence numbers of the events that have ended; nil where it is no such stream.
  mutating func take(_ bytes: [UInt8]) -> [Int64]? {
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

struct EventStream {
  let client: HubClient
  /// Gets each request, to cancel it.
  let onBegin: @Sendable (any TransportExchange) -> Void
  let onEvent: @Sendable (_ seq: Int64) -> Void

  /// A hub says something at least so often.
  static let beat = 25

  /// Listens until that fails, or the hub ends it.
  func listen() throws(KeepsakeError) {
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
    while true {
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
      if seq != last { onEvent(seq) }
      last = seq
    }
  }
}
