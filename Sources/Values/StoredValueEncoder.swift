// SPDX-License-Identifier: Apache-2.0
//
// Codable to StoredValue. A tree of nodes is built first, because an encoder hands out containers
// that are filled later; then it becomes a value.
//
// Invariants
// - A part that conforms to `BackingStoreConvertible` is stored as its own hook says.
// - Equal values are encoded alike: sets, and dictionaries whose keys are no text, are put in
//   order.
// - nil is the absence of a member. Where it would be lost (in an array, in a dictionary, alone) it
//   is an error, as is an integer beyond Int64.
// - The recursion ends at `StoredValue.maximumDepth` containers.

struct StoredValueEncoder: Encoder {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  /// How many containers the value is in.
  let depth: Int

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// How deep the hook that is running was called from. It calls an encoder of its own, which has
  /// to go on counting.
  @TaskLocal private static var depthOfHook = 0

  static func value(of value: some Encodable) throws -> StoredValue {
    try Self.value { encoder in
      try encode(value, into: encoder.node, at: [], depth: encoder.depth)
    }
  }

  /// - Parameter encode: what a type does to encode itself.
  static func value(by encode: (StoredValueEncoder) throws -> Void) throws -> StoredValue {
    try coding {
      let node = EncodedNode()
      try encode(StoredValueEncoder(node: node, codingPath: [], depth: depthOfHook))
      return try node.value(depth: depthOfHook)
    }
  }

  static func encode(
    _ value: some Encodable, into node: EncodedNode, at path: [any CodingKey], depth: Int
  ) throws {
    guard depth <= StoredValue.maximumDepth else { throw ValueError.tooDeep.within(path) }
    if let convertible = value as? any BackingStoreConvertible {
      let stored = try $depthOfHook.withValue(depth) {
        try placed(path) { try convertible.toBackingStore() }
      }
      try node.set(.value(stored), at: path)
    } else {
      if let container = value as? any UnorderedContainer {
        node.unorderedStride = type(of: container).stride
      }
      try value.encode(to: StoredValueEncoder(node: node, codingPath: path, depth: depth))
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.start(.members([:]))
    return KeyedEncodingContainer(
      StoredMembersEncoder(node: node, codingPath: codingPath, depth: depth + 1))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.start(.elements([]))
    return StoredElementsEncoder(node: node, codingPath: codingPath, depth: depth + 1)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension StoredValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try node.set(.null, at: codingPath) }

  func encode(_ value: some Encodable) throws {
    try Self.encode(value, into: node, at: codingPath, depth: depth)
  }
}

// MARK: - Containers

private struct StoredMembersEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  /// Of what is in this container.
  let depth: Int

  private func encoder(for key: any CodingKey) -> StoredValueEncoder {
    StoredValueEncoder(
      node: node.member(key.stringValue), codingPath: codingPath + [key], depth: depth)
  }

  /// Of a container that may have been asked for before.
  private func nested(_ key: Key) -> StoredValueEncoder {
    StoredValueEncoder(
      node: node.container(key.stringValue), codingPath: codingPath + [key], depth: depth)
  }

  func encodeNil(forKey key: Key) throws { try encoder(for: key).encodeNil() }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    try encoder(for: key).encode(value)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { nested(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nested(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(for: PlaceKey.ofSuper) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }
}

private struct StoredElementsEncoder: UnkeyedEncodingContainer {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  /// Of what is in this container.
  let depth: Int

  var count: Int { node.count }

  private func next() -> StoredValueEncoder {
    let key = PlaceKey(intValue: count)
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
