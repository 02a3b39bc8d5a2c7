// SPDX-License-Identifier: Apache-2.0

/// An array or a dictionary that is still open.
struct PropertyListFrame {
  struct Key {
    let text: String
    let offset: UInt32
  }

  let isDictionary: Bool
  let offset: UInt32
  /// The elements of an array.
  private(set) var nodes: [PropertyListNode] = []
  /// The complete members of a dictionary.
  private(set) var members: [PropertyListNode.Member] = []
  /// The key that has no value yet.
  private(set) var key: Key?
  /// The offsets by key, once there are too many keys to compare one by one.
  private var places: [String: UInt32] = [:]

  private static let comparedOneByOne = 8
  /// Reserved at once, because growing to as many one by one would take as long as parsing.
  private static let usualMembers = 4

  init(isDictionary: Bool, offset: UInt32) {
    self.isDictionary = isDictionary
    self.offset = offset
  }

  var tag: ElementName { isDictionary ? .dict : .array }

  var value: PropertyListNode.Value {
    isDictionary ? .dictionary(members) : .array(nodes)
  }

  /// Starts a member. Keys must be unique by canonical equivalence, as `String` compares.
  mutating func open(key text: String, at offset: UInt32) throws(Fault) {
    if text.hasTooManyCombiningMarks {
      throw Fault(
        .textTooLong, at: Int(offset), "this key has more than 30 combining marks in a row",
        cure: "rename it")
    }
    if let first = place(of: text) {
      throw Fault(
        .duplicateKey, at: Int(offset), "duplicate key \(text.quoted)",
        cure: "remove or rename one of the two",
        related: Fault.Related(relation: "first at", offset: Int(first)))
    }
    key = Key(text: text, offset: offset)
  }

  private mutating func place(of text: String) -> UInt32? {
    if members.count < Self.comparedOneByOne {
      return members.first { $0.key == text }?.keyOffset
    }
    if places.isEmpty {
      for member in members { places[member.key] = member.keyOffset }
    }
    return places[text]
  }

  /// The key path of what the innermost of these frames waits for; nil at the root.
  static func keyPath(of frames: [PropertyListFrame]) -> String? {
    var path = KeyPathText()
    for frame in frames {
      if let key = frame.key { path.append(.key(key.text)) }
      if !frame.isDictionary { path.append(.index(frame.nodes.count)) }
    }
    return path.text
  }

  mutating func place(_ node: PropertyListNode) {
    guard let key else {
      nodes.append(node)
      return
    }
    if members.isEmpty { members.reserveCapacity(Self.usualMembers) }
    members.append(
      PropertyListNode.Member(key: key.text, keyOffset: key.offset, value: node))
    if !places.isEmpty { places[key.text] = key.offset }
    self.key = nil
  }
}
