// SPDX-License-Identifier: Apache-2.0
//
// Encodes `Codable` types to stored values. It builds a tree of nodes first, because an encoder
// hands out containers that are filled later.
//
// Invariants
// - A part that conforms to `BackingStoreConvertible` is encoded by its hook.
// - Equal values have equal encodings: sets, and dictionaries without string keys, are sorted.
// - nil is the absence of a member. Where it would be lost (in an array, in a dictionary, alone) it
//   is an error, as is an integer beyond Int64.
// - The recursion ends at `StoredValue.maximumDepth` containers.

struct StoredValueEncoder: Encoder {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  /// The number of containers around the value.
  let depth: Int

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The depth at which the running hook was called. If the hook starts another encoder, that
  /// encoder continues to count from here.
  @TaskLocal private static var depthOfHook = 0

  /// - Parameter encode: the type's own encoding.
  static func value(by encode: (StoredValueEncoder) throws -> Void) throws -> StoredValue {
    try convertingCodingErrors {
      let node = EncodedNode()
      try encode(StoredValueEncoder(node: node, codingPath: [], depth: depthOfHook))
      return try node.value(depth: depthOfHook)
    }
  }

  static func encode(
    _ value: some Encodable, into node: EncodedNode, at path: [any CodingKey], depth: Int
  ) throws {
    guard depth <= StoredValue.maximumDepth else {
      throw ValueError.nestsTooDeep.within(path.path)
    }
    if let convertible = value as? any BackingStoreConvertible {
      let stored = try $depthOfHook.withValue(depth) {
        try addingPath(path.path) { try convertible.toBackingStore() }
      }
      try node.set(stored, at: path)
    } else {
      if let container = value as? any UnorderedContainer {
        node.unorderedStride = type(of: container).stride
      }
      try value.encode(to: StoredValueEncoder(node: node, codingPath: path, depth: depth))
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.start(.members)
    return KeyedEncodingContainer(
      StoredMembersEncoder(node: node, codingPath: codingPath, depth: depth + 1))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.start(.elements)
    return StoredElementsEncoder(node: node, codingPath: codingPath, depth: depth + 1)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension StoredValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try node.set(nil, at: codingPath) }

  func encode(_ value: some Encodable) throws {
    try Self.encode(value, into: node, at: codingPath, depth: depth)
  }
}

// MARK: - Containers

private struct StoredMembersEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  /// The depth of this container's members.
  let depth: Int

  private func encoder(for key: any CodingKey, isNested: Bool = false) -> StoredValueEncoder {
    StoredValueEncoder(
      node: node.member(key.stringValue, isNested: isNested), codingPath: codingPath + [key],
      depth: depth)
  }

  func encodeNil(forKey key: Key) throws { try encoder(for: key).encodeNil() }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    try encoder(for: key).encode(value)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { encoder(for: key, isNested: true).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(for: key, isNested: true).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(for: AnyCodingKey.ofSuper) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }
}

private struct StoredElementsEncoder: UnkeyedEncodingContainer {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  /// The depth of this container's elements.
  let depth: Int

  var count: Int { node.count }

  private func next() -> StoredValueEncoder {
    let key = AnyCodingKey(intValue: count)
    return StoredValueEncoder(
      node: node.appendElement(), codingPath: codingPath + [key], depth: depth)
  }

  func encodeNil() throws { try next().encodeNil() }

  func encode(_ value: some Encodable) throws { try next().encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { next().container(keyedBy: type) }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

  func superEncoder() -> any Encoder { next() }
}
