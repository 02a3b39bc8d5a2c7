// SPDX-License-Identifier: Apache-2.0

/// The members of a `Codable` type, found by decoding an example.
///
/// Decoding asks for every member, also for one that is nil and was not encoded.
@usableFromInline
package struct CodedMembers: Sendable {
  /// In the order in which the type decodes them; then those that it only encodes.
  package internal(set) var members: [String] = []
  /// False for a type that decodes something else than members, or that has hooks.
  package internal(set) var isKeyed = false
  /// Whether the type asks which members there are, as dictionaries and enumerations with
  /// associated values do: then they are not known beforehand.
  package internal(set) var isOpen = false
  /// Why the type cannot decode the example; `members` has those that it asked for until then.
  package private(set) var failure: (any Error)?
}

extension CodedMembers {
  /// - Parameter example: an encoded value.
  package init<Value: Decodable>(of type: Value.Type, decoding example: [String: StoredValue]) {
    let record = MemberRecord()
    let decoded = Result {
      try StoredValue.dictionary(example).decoded { decoder in
        var decoder = decoder
        decoder.record = record
        return try Value(from: decoder)
      }
    }
    self = record.found
    if case .failure(let error) = decoded { failure = error }
    let asked = Set(members)
    members += example.keys.sorted().filter { !asked.contains($0) }
  }
}

/// The members that a decoder was asked for. A class, because decoding containers share it.
final class MemberRecord {
  var found = CodedMembers()

  func note(_ key: any CodingKey) {
    if !found.members.contains(key.stringValue) { found.members.append(key.stringValue) }
  }
}

extension StoredValue {
  /// The value that a type's own `encode(to:)` encodes; the type's hooks are not called.
  ///
  /// - Throws: `ValueError`, or the error of `encode(to:)`.
  package init(coding value: some Encodable) throws {
    self = try StoredValueEncoder.value(by: value.encode(to:))
  }

  /// The inverse of `init(coding:)`.
  package func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
    try decoded(by: Value.init(from:))
  }

  func decoded<Value>(by decode: (StoredValueDecoder) throws -> Value) throws -> Value {
    try convertingCodingErrors { try decode(StoredValueDecoder(value: self, codingPath: [])) }
  }
}
