// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// A value of a property list and the offset of its element.
package struct PropertyListNode: Sendable {
  /// The byte of the element's `<`; in a binary list the number of the value in the order of
  /// reading, because one object may be in several places.
  package let offset: UInt32
  package let value: Value

  /// The value, without conversion between kinds.
  package enum Value: Sendable {
    case string(String)
    case integer(Int64)
    /// An integer above `Int64.max`; smaller ones are `integer`.
    case unsigned(UInt64)
    case real(Double)
    case boolean(Bool)
    /// XML has whole seconds only.
    case date(Date)
    case data([UInt8])
    case array([PropertyListNode])
    /// In the order of the file; sorted if the list is binary. No two keys are canonically equal.
    case dictionary([Member])
  }

  /// A member of a dictionary. (A struct, because the compiler reports a circular reference for a
  /// tuple under strict memory safety.)
  package struct Member: Sendable {
    package let key: String
    /// The byte of the `<` of `<key>`; in a binary list its number.
    package let keyOffset: UInt32
    package let value: PropertyListNode

    package init(key: String, keyOffset: UInt32, value: PropertyListNode) {
      self.key = key
      self.keyOffset = keyOffset
      self.value = value
    }
  }

  package init(offset: UInt32, _ value: Value) {
    self.offset = offset
    self.value = value
  }
}

extension PropertyListNode.Value {
  /// An integer; nil outside `Int64.min...UInt64.max`.
  init?(integer number: Int128) {
    if let signed = Int64(exactly: number) {
      self = .integer(signed)
    } else if let unsigned = UInt64(exactly: number) {
      self = .unsigned(unsigned)
    } else {
      return nil
    }
  }
}

extension PropertyListNode {
  /// The value of this key, compared by bytes; nil if this is not a dictionary. O(members).
  package subscript(key: String) -> PropertyListNode? {
    members?.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
  }

  package var string: String? {
    if case .string(let text) = value { text } else { nil }
  }

  package var array: [PropertyListNode]? {
    if case .array(let elements) = value { elements } else { nil }
  }

  package var members: [Member]? {
    if case .dictionary(let members) = value { members } else { nil }
  }

  package var boolean: Bool? {
    if case .boolean(let flag) = value { flag } else { nil }
  }

  /// A number of any kind, rounded to the nearest `Double`.
  package var number: Double? {
    switch value {
    case .integer(let number): Double(number)
    case .unsigned(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  var isContainer: Bool { array != nil || members != nil }

  /// The members of a root.
  ///
  /// - Throws: `Fault` if the root is not a dictionary.
  package func membersOfRoot() throws(Fault) -> [Member] {
    guard let members else {
      throw Fault(
        .wrongType, at: Int(offset), "the root is \(kindName), not a dictionary",
        cure: "wrap the value in a <dict>")
    }
    return members
  }

  /// The kind for messages, with its article.
  var kindName: String {
    switch value {
    case .string: "a string"
    case .integer, .unsigned: "an integer"
    case .real: "a real"
    case .boolean: "a boolean"
    case .date: "a date"
    case .data: "data"
    case .array: "an array"
    case .dictionary: "a dictionary"
    }
  }

  // MARK: - Stored values

  /// The value as a store keeps it.
  ///
  /// - Throws: `Fault` at the element that a store cannot hold: an integer above `Int64.max`, or a
  ///   container below `StoredValue.maximumDepth` levels, where the recursion ends.
  package func storedValue(depth: Int = 0) throws(Fault) -> StoredValue {
    guard !isContainer || depth < StoredValue.maximumDepth else {
      throw Fault(
        .tooDeep, at: Int(offset),
        "a stored value nests at most \(StoredValue.maximumDepth) arrays and dictionaries",
        cure: "flatten this value")
    }
    switch value {
    case .string(let text): return .string(text)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .boolean(let flag): return .boolean(flag)
    case .data(let bytes): return .data(Data(bytes))
    case .date(let date): return .date(date)
    case .unsigned:
      throw Fault(
        .unsignedTooLarge, at: Int(offset),
        "this integer exceeds \(Int64.max), the largest that a store can hold",
        cure: "use a smaller integer or a string")
    case .array(let elements):
      var list: [StoredValue] = []
      for element in elements { list.append(try element.storedValue(depth: depth + 1)) }
      return .array(list)
    case .dictionary(let members):
      var table: [String: StoredValue] = [:]
      for member in members {
        table[member.key] = try member.value.storedValue(depth: depth + 1)
      }
      return .dictionary(table)
    }
  }

  /// Whether this default selects `choice`: the values are equal, or this is an integer and the
  /// choice is the real of the same value. False for a value that no store can hold.
  package func isChoice(_ choice: PropertyListNode) -> Bool {
    guard let wanted = ifStorable, let candidate = choice.ifStorable else { return false }
    if case .real(let real) = candidate, case .integer(let integer) = wanted {
      return Double(exactly: integer) == real
    }
    return candidate == wanted
  }

  /// The value as a store keeps it; nil if no store can hold it.
  package var ifStorable: StoredValue? {
    do throws(Fault) {
      return try storedValue()
    } catch {
      return nil
    }
  }
}
