// SPDX-License-Identifier: Apache-2.0
//
// Messages between devices and hubs as text: JSON Lines. The first line is the message, and tells
// in `"rows"` how many lines follow it, each a row. A message that has fewer was cut off, and is
// none.

import KeepsakeSync
import KeepsakeValues

package enum MessageText {
  /// The version of the protocol.
  package static let version: Int64 = 1

  static func write(_ message: [JSON.Member], _ rows: [JSON]) -> [UInt8] {
    var bytes: [UInt8] = []
    let head =
      [JSON.Member("protocol", .integer(version))] + message
      + [JSON.Member("rows", .integer(Int64(rows.count)))]
    for line in [.object(head)] + rows {
      line.write(to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }

  /// Reads the lines of a message.
  ///
  /// - Parameters:
  ///   - limit: rows that it has at most.
  ///   - headBytes: of the first line.
  static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, limit: Int, headBytes: Int = .max
  ) throws(MessageError) -> (head: MessageMembers, rows: [(entry: Entry, seq: Int64?)]) {
    // What ends without a line's end was cut off.
    guard bytes.last == UInt8(ascii: "\n") else {
      throw MessageMembers.error("the message was cut off")
    }
    var lines = bytes.dropLast().split(
      separator: UInt8(ascii: "\n"), maxSplits: limit, omittingEmptySubsequences: false)[...]
    let first = lines.removeFirst()
    guard first.count <= headBytes else {
      throw MessageMembers.error("its first line has more than \(headBytes) bytes")
    }
    let head: MessageMembers
    do {
      let first = UnsafeBufferPointer(rebasing: first)
      head = try MessageMembers(JSON(parsing: text(of: first)), "the message")
    } catch let error as MessageError {
      throw error
    } catch {
      throw MessageMembers.error("\(error)")
    }
    let spoken = try head.count("protocol")
    guard spoken == version else {
      throw MessageError(
        line: 1, problem: "it is of version \(spoken) of the protocol, not \(version)",
        version: spoken)
    }
    guard try head.count("rows") == Int64(lines.count) else {
      throw MessageMembers.error("\"rows\" is not how many lines follow, \(lines.count)")
    }
    var rows: [(entry: Entry, seq: Int64?)] = []
    for (number, line) in lines.enumerated() {
      do {
        rows.append(try row(UnsafeBufferPointer(rebasing: line)))
      } catch {
        throw MessageError(line: number + 2, problem: "\(error)")
      }
    }
    return (head, rows)
  }

  static func row(
    _ line: UnsafeBufferPointer<UInt8>
  ) throws -> (entry: Entry, seq: Int64?) {
    try RowLine.row(text(of: line))
  }

  /// Repaired, a key would be another one.
  private static func text(of line: UnsafeBufferPointer<UInt8>) throws -> String {
    guard let text = String(validating: line, as: UTF8.self) else {
      throw RowProblem("this is no UTF-8")
    }
    return text
  }
}

// MARK: - What both kinds of message have

extension PeerState {
  var json: JSON {
    .object([
      "cursor": .integer(cursor), "acked": .integer(acked), "readToken": readToken?.json,
      "token": token?.json, "prior": prior?.json, "theirRead": theirRead?.json,
    ])
  }

  init(_ members: MessageMembers) throws(MessageError) {
    self.init(
      cursor: try members.count("cursor"), acked: try members.count("acked"),
      readToken: try members.ifToken("readToken"), token: try members.ifToken("token"),
      prior: try members.ifToken("prior"), theirRead: try members.ifToken("theirRead"))
  }
}

extension ExchangeToken {
  var json: JSON { .string(ReplicaID(rawValue: rawValue).description) }
}

extension EchoRange {
  var json: JSON { .array([.integer(lower), .integer(upper)]) }
}

extension HubRequest.Seen {
  var json: JSON {
    .object([
      "store": .string(store.string), "origin": .string(origin.description),
      "stamp": .string(timestamp.description),
    ])
  }
}

extension [ReplicaID: HybridTimestamp] {
  var json: JSON {
    .array(
      sorted { $0.key < $1.key }.map { origin, timestamp in
        .object([
          "origin": .string(origin.description), "stamp": .string(timestamp.description),
        ])
      })
  }
}

extension [Int64] {
  var json: JSON { .array(map(JSON.integer)) }
}
