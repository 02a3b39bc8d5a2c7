// SPDX-License-Identifier: Apache-2.0

/// A JSON value that distinguishes integers from floating-point numbers and keeps the order of
/// members, which Foundation's coders do not.
package indirect enum JSON: Sendable, Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSON])
  case object([Member])
  /// A stored array or dictionary, written without being decoded.
  case container(ContainerText, isShown: Bool)

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// The nesting depth of arrays and objects: a level of a value takes up to two, a marker one
  /// more.
  package static let maximumDepth = 2 * StoredValue.maximumDepth + 2

  /// An object without the members that have no value.
  package static func object(_ members: KeyValuePairs<String, JSON?>) -> JSON {
    .object(members.compactMap { name, value in value.map { Member(name, $0) } })
  }
}

/// The text of a readable array or dictionary.
package struct ContainerText: Sendable, Equatable {
  let text: String
  package let kind: StoredValue.Kind
  /// Whether the text is what this version writes; other programs may write it differently.
  package let isCanonical: Bool
}
