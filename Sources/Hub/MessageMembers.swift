// SPDX-License-Identifier: Apache-2.0

import KeepsakeSync
import KeepsakeValues

/// What is wrong with a message.
package struct MessageError: Error, Equatable, CustomStringConvertible {
  /// Counted from 1.
  package let line: Int
  package let problem: String
  /// The version of the protocol that it has, if that is what is wrong.
  package var version: Int64?

  package var description: String { "line \(line): \(problem)" }
}

/// The members of an object in the first line of a message. Those that this version does not know
/// are left to later ones.
struct MessageMembers {
  private let members: [String: JSON]

  init(_ json: JSON, _ name: String) throws(MessageError) {
    guard case .object(let members) = json else { throw Self.error("\(name) is no object") }
    self.members = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
  }

  static func error(_ problem: String) -> MessageError { MessageError(line: 1, problem: problem) }

  func has(_ name: String) -> Bool { members[name].map { $0 != .null } ?? false }

  private func value<Value>(
    _ name: String, _ kind: String, _ read: (JSON) -> Value?
  ) throws(MessageError) -> Value {
    guard let value = members[name].flatMap(read) else {
      throw Self.error("\"\(name)\" is no \(kind)")
    }
    return value
  }

  // MARK: - Scalars

  /// A number that is not negative.
  func count(_ name: String) throws(MessageError) -> Int64 {
    try value(name, "number from 0 to 2^53") { json in
      guard case .integer(let number) = json, 0...(1 << 53) ~= number else { return nil }
      return number
    }
  }

  func flag(_ name: String) throws(MessageError) -> Bool {
    try value(name, "boolean") { json in
      if case .boolean(let flag) = json { flag } else { nil }
    }
  }

  func text(_ name: String) throws(MessageError) -> String {
    try value(name, "text") { json in
      if case .string(let text) = json { text } else { nil }
    }
  }

  /// Nil also for what is no text.
  func ifText(_ name: String) -> String? {
    if case .string(let text)? = members[name] { text } else { nil }
  }

  func replica(_ name: String) throws(MessageError) -> ReplicaID {
    try value(name, "replica ID of 16 hexadecimal digits") { $0.replica }
  }

  func token(_ name: String) throws(MessageError) -> ExchangeToken {
    try value(name, "token of 16 hexadecimal digits") { json in
      json.number.map { ExchangeToken(rawValue: $0) }
    }
  }

  func ifToken(_ name: String) throws(MessageError) -> ExchangeToken? {
    if has(name) { try token(name) } else { nil }
  }

  func timestamp(_ name: String) throws(MessageError) -> HybridTimestamp {
    try value(name, "timestamp of 16 hexadecimal digits") { $0.timestamp }
  }

  // MARK: - What has several

  func members(_ name: String) throws(MessageError) -> MessageMembers {
    try MessageMembers(members[name] ?? .null, "\"\(name)\"")
  }

  func ifMembers(_ name: String) throws(MessageError) -> MessageMembers? {
    if has(name) { try members(name) } else { nil }
  }

  func list<Element>(
    _ name: String, _ read: (JSON) throws(MessageError) -> Element
  ) throws(MessageError) -> [Element] {
    let all: [JSON] = try value(name, "list") { json in
      if case .array(let all) = json { all } else { nil }
    }
    var elements: [Element] = []
    for json in all { elements.append(try read(json)) }
    return elements
  }

  func objects<Element>(
    _ name: String, _ read: (MessageMembers) throws(MessageError) -> Element
  ) throws(MessageError) -> [Element] {
    try list(name) { json throws(MessageError) in
      try read(MessageMembers(json, "what \"\(name)\" lists"))
    }
  }

  func counts(_ name: String) throws(MessageError) -> [Int64] {
    try list(name) { json throws(MessageError) in
      guard case .integer(let number) = json, 0...(1 << 53) ~= number else {
        throw Self.error("\"\(name)\" lists what is no number from 0 to 2^53")
      }
      return number
    }
  }

  func stores(_ name: String) throws(MessageError) -> [ByteText] {
    try list(name) { json throws(MessageError) in
      guard case .string(let text) = json, !text.isEmpty else {
        throw Self.error("\"\(name)\" lists what is no name of a store")
      }
      return ByteText(text)
    }
  }

  func range(_ name: String) throws(MessageError) -> EchoRange {
    let bounds = try counts(name)
    guard bounds.count == 2, bounds[0] <= bounds[1] else {
      throw Self.error("\"\(name)\" is no range of two numbers")
    }
    return EchoRange(lower: bounds[0], upper: bounds[1])
  }

  /// The last valid timestamp of replica IDs whose later ones are revoked.
  func limits(_ name: String) throws(MessageError) -> [ReplicaID: HybridTimestamp] {
    let pairs = try objects(name) { members throws(MessageError) in
      (try members.replica("origin"), try members.timestamp("stamp"))
    }
    return Dictionary(pairs, uniquingKeysWith: min)
  }

  func seen(_ name: String) throws(MessageError) -> [HubRequest.Seen] {
    try objects(name) { members throws(MessageError) in
      HubRequest.Seen(
        ByteText(try members.text("store")), try members.replica("origin"),
        try members.timestamp("stamp"))
    }
  }

  func ifSeen(_ name: String) throws(MessageError) -> [HubRequest.Seen]? {
    if has(name) { try seen(name) } else { nil }
  }
}

extension JSON {
  /// The number that 16 hexadecimal digits stand for, unless it is negative.
  var number: Int64? {
    guard case .string(let text) = self, text.utf8.count == 16,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    return Int64(text, radix: 16)
  }

  /// Nil for 0, which no device has.
  var replica: ReplicaID? { number.flatMap { $0 > 0 ? ReplicaID(rawValue: $0) : nil } }

  var timestamp: HybridTimestamp? { number.map { HybridTimestamp(rawValue: $0) } }
}
