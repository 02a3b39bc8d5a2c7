// SPDX-License-Identifier: Apache-2.0
//
// The members of a `Codable` type by its own coding. Decoding asks for every member, also for one
// that is nil and was not encoded; so what it asks for is noted.

/// Which members a `Codable` type has.
@usableFromInline
package struct CodedMembers: Sendable {
  /// In the order in which the type decodes them; then those that it only encodes.
  package fileprivate(set) var members: [String] = []
  /// False for a type that is decoded as something else than members, or by hooks.
  package fileprivate(set) var isKeyed = false
  /// Whether the type asks which members there are, as dictionaries and enumerations with
  /// associated values do: then they are not known beforehand.
  package fileprivate(set) var isOpen = false
  /// Why the type cannot decode the example; then it has asked for these members until it failed.
  package fileprivate(set) var failure: (any Error)?

  /// - Parameter example: an encoded value.
  package init<Value: Decodable>(of type: Value.Type, decoding example: [String: StoredValue]) {
    let record = MemberRecord()
    let decoded = Result {
      try StoredValueDecoder.read(
        by: { decoder in
          try Value(
            from: StoredValueDecoder(
              value: decoder.value, codingPath: decoder.codingPath, record: record))
        }, from: .dictionary(example))
    }
    self = record.found
    if case .failure(let error) = decoded { failure = error }
    let asked = Set(members)
    members += example.keys.sorted().filter { !asked.contains($0) }
  }
}

/// What a decoder notes of the members that it is asked for. A class, because containers share it.
final class MemberRecord {
  fileprivate var found = CodedMembers()

  var isKeyed: Bool {
    get { found.isKeyed }
    set { found.isKeyed = newValue }
  }

  var isOpen: Bool {
    get { found.isOpen }
    set { found.isOpen = newValue }
  }

  func note(_ key: any CodingKey) {
    if !found.members.contains(key.stringValue) { found.members.append(key.stringValue) }
  }
}

extension CodedMembers {
  fileprivate init() {}
}

extension StoredValue {
  /// What a type's own `encode(to:)` encodes, whatever hooks the type has.
  ///
  /// - Throws: `ValueError`, or what `encode(to:)` throws.
  package init(coding value: some Encodable) throws {
    self = try StoredValueEncoder.value(by: value.encode(to:))
  }

  /// The inverse of `init(coding:)`.
  package func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
    try StoredValueDecoder.read(by: Value.init(from:), from: self)
  }
}
