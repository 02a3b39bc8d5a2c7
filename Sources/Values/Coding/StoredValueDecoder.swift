// SPDX-License-Identifier: Apache-2.0
//
// Decodes `Codable` types from stored values, the inverse of `StoredValueEncoder`. Internally it
// throws `DecodingError`, because types catch that to try several forms; `decoded(by:)` converts it
// to a `ValueError`.
//
// Recursive: the file format limits the depth of values.

struct StoredValueDecoder: Decoder {
  let value: StoredValue
  let codingPath: [any CodingKey]
  /// Records the members that the type of the whole value decodes; nil if no caller wants them.
  var record: MemberRecord?

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .dictionary(let members) = value else {
      throw mismatch([String: Any].self, wanted: "dictionary")
    }
    record?.found.isKeyed = true
    return KeyedDecodingContainer(
      StoredMembersDecoder(members: members, codingPath: codingPath, record: record))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch([Any].self, wanted: "array") }
    return StoredElementsDecoder(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func mismatch(_ type: Any.Type, wanted: String) -> DecodingError {
    error(type, because: .mismatch(value, wanted: wanted))
  }

  private func error(_ type: Any.Type, because reason: ValueError) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: reason.description, underlyingError: reason)
    return reason.code == .typeMismatch
      ? .typeMismatch(type, context) : .dataCorrupted(context)
  }
}

extension StoredValueDecoder: SingleValueDecodingContainer {
  /// A stored value is never nil.
  func decodeNil() -> Bool { false }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let convertible = type as? any BackingStoreConvertible.Type {
      do {
        guard let typed = try convertible.fromBackingStore(value) as? Value else {
          throw mismatch(type, wanted: "\(type)")
        }
        return typed
      } catch let reason as ValueError {
        throw error(type, because: reason)
      }
    }
    let decoded = try type.init(from: self)
    // A set or a dictionary drops duplicates silently.
    if let container = decoded as? any UnorderedContainer, case .array(let elements) = value,
      container.count * Swift.type(of: container).stride != elements.count
    {
      let reason = ValueError(.invalid, "duplicate element or key; set the value again")
      throw error(type, because: reason)
    }
    return decoded
  }
}

// MARK: - Containers

private struct StoredMembersDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: [String: StoredValue]
  let codingPath: [any CodingKey]
  let record: MemberRecord?

  var allKeys: [Key] {
    record?.found.isOpen = true
    return members.keys.compactMap(Key.init(stringValue:))
  }

  func contains(_ key: Key) -> Bool {
    record?.note(key)
    return members[key.stringValue] != nil
  }

  /// A nil property has no member.
  func decodeNil(forKey key: Key) -> Bool { !contains(key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    // An optional that was encoded without `encodeIfPresent`.
    if !contains(key), let optional = type as? any NilDecodable.Type,
      let absent = optional.absent as? Value
    {
      return absent
    }
    return try decoder(for: key).decode(type)
  }

  private func decoder(for key: any CodingKey) throws -> StoredValueDecoder {
    record?.note(key)
    guard let value = members[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "no such member"))
    }
    return StoredValueDecoder(value: value, codingPath: codingPath + [key])
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder(for: key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(for: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(for: AnyCodingKey.ofSuper) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(for: key) }
}

private struct StoredElementsDecoder: UnkeyedDecodingContainer {
  let elements: [StoredValue]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  /// Reads the next element; an error does not advance.
  private mutating func next<Result>(
    _ type: Any.Type, _ read: (StoredValueDecoder) throws -> Result
  ) throws -> Result {
    let path = codingPath + [AnyCodingKey(intValue: currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, DecodingError.Context(codingPath: path, debugDescription: "no more elements"))
    }
    let result = try read(StoredValueDecoder(value: elements[currentIndex], codingPath: path))
    currentIndex += 1
    return result
  }

  /// An element is never nil.
  func decodeNil() -> Bool { false }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next(type) { try $0.decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try next([String: Any].self) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next([Any].self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
}

/// An optional of any type.
private protocol NilDecodable {
  static var absent: Self { get }
}

extension Optional: NilDecodable {
  fileprivate static var absent: Self { nil }
}
