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
  /// The keys, once there are too many to compare one by one.
  private var keys: Set<String> = []
  /// The slots in `RecentKeys` of the keys, a bit each.
  private var slots: UInt64 = 0
  /// Whether `RecentKeys` found each key.
  private var areShort = true

  private static let comparedOneByOne = 8
  /// Reserved at once, because growing one by one would take as long as the parsing.
  private static let usualMembers = 6

  init(isDictionary: Bool, offset: UInt32) {
    self.isDictionary = isDictionary
    self.offset = offset
  }

  var tag: ElementName { isDictionary ? .dict : .array }

  var value: PropertyListNode.Value {
    isDictionary ? .dictionary(members) : .array(nodes)
  }

  /// Starts a member. Keys must be unique by canonical equivalence, as `String` compares.
  ///
  /// - Parameter slot: The key's slot in `RecentKeys`; nil if the key was not found there.
  mutating func open(key text: String, at offset: UInt32, slot: Int? = nil) throws(Fault) {
    if !isNew(inSlot: slot) {
      if text.hasTooManyCombiningMarks {
        throw Fault(
          .textTooLong, at: Int(offset), "this key has more than 30 combining marks in a row",
          cure: "rename it")
      }
      if hasKey(text) {
        throw Fault(
          .duplicateKey, at: Int(offset), "duplicate key \(text.quoted)",
          cure: "remove or rename one of the two")
      }
    }
    key = Key(text: text, offset: offset)
  }

  /// Notes the slot of a key in `RecentKeys`.
  ///
  /// - Returns: true if the key is surely new: no other key has its slot, and all keys are ASCII,
  ///   so that none is canonically equal to another.
  private mutating func isNew(inSlot slot: Int?) -> Bool {
    guard let slot else {
      areShort = false
      return false
    }
    let bit: UInt64 = 1 << slot
    defer { slots |= bit }
    return areShort && slots & bit == 0
  }

  private mutating func hasKey(_ text: String) -> Bool {
    if members.count < Self.comparedOneByOne { return members.contains { $0.key == text } }
    if keys.isEmpty { keys = Set(members.lazy.map(\.key)) }
    return keys.contains(text)
  }

  /// The key path of the next value of the innermost frame; nil at the root.
  static func keyPath(of frames: [PropertyListFrame]) -> String? {
    var path: [KeyPathStep] = []
    for frame in frames {
      if let key = frame.key { path.append(.key(key.text)) }
      if !frame.isDictionary { path.append(.index(frame.nodes.count)) }
    }
    return path.keyPath
  }

  mutating func place(_ node: consuming PropertyListNode) {
    guard let key else {
      nodes.append(node)
      return
    }
    if members.isEmpty { members.reserveCapacity(Self.usualMembers) }
    members.append(
      PropertyListNode.Member(key: key.text, keyOffset: key.offset, value: node))
    if !keys.isEmpty { keys.insert(key.text) }
    self.key = nil
  }
}
