// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// A value of a property list and the offset of its element.
package struct PropertyListNode: Sendable {
  /// The byte of the element's `<`; in a binary list the number of the value in the order of
  /// reading, since one object may be in several places.
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
    /// In XML of whole seconds.
    case date(Date)
    case data([UInt8])
    case array([PropertyListNode])
    /// In the order of the file, of a binary list sorted; no two keys are canonically equal.
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

extension PropertyListNode {
  /// The value of this key, compared by bytes; nil if this is not a dictionary. O(members).
  package subscript(key: String) -> PropertyListNode? {
    guard case .dictionary(let members) = value else { return nil }
    return members.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
  }

  package var string: String? {
    guard case .string(let text) = value else { return nil }
    return text
  }

  package var array: [PropertyListNode]? {
    guard case .array(let elements) = value else { return nil }
    return elements
  }

  package var members: [Member]? {
    guard case .dictionary(let members) = value else { return nil }
    return members
  }

  package var boolean: Bool? {
    guard case .boolean(let flag) = value else { return nil }
    return flag
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

  var isContainer: Bool {
    switch value {
    case .array, .dictionary: true
    default: false
    }
  }

  /// The kind for messages, with its article.
  package var kindName: String {
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
}
