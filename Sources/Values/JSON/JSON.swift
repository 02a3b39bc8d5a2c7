// SPDX-License-Identifier: Apache-2.0

/// A JSON value that distinguishes integers from floating-point numbers and keeps the order of
/// members, which Foundation's coders do not.
package enum JSON: Sendable, Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSON])
  case object([Member])

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// The nesting depth of arrays and objects: a level of a value takes up to two, a marker one
  /// more, and the value is in a line of an array of lines.
  package static let maximumDepth = 2 * StoredValue.maximumDepth + 3

  /// An object without the members that have no value.
  package static func object(_ members: KeyValuePairs<String, JSON?>) -> JSON {
    .object(members.compactMap { name, value in value.map { Member(name, $0) } })
  }

  /// The value of a member; nil for a missing member, and for anything but an object. O(members).
  package subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    let name = ByteText(name)
    return members.first { ByteText($0.name) == name }?.value
  }
}
