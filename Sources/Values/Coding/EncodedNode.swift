// SPDX-License-Identifier: Apache-2.0

/// A part of a value during encoding. A class, because encoding containers share it.
final class EncodedNode {
  enum Content: Equatable {
    /// Nil if the type encoded nil.
    case value(StoredValue?)
    case nothing, elements, members, encodedTwice
  }

  private var content = Content.nothing
  private var elements: [EncodedNode] = []
  private var members: [String: EncodedNode] = [:]
  /// The stride of an `UnorderedContainer`; nil for others.
  var unorderedStride: Int?

  var count: Int { elements.count }

  /// - Parameter value: the encoded value; nil if the type encoded nil.
  func set(_ value: StoredValue?, at path: [any CodingKey]) throws {
    guard content == .nothing else { throw ValueError.encodedTwice.within(path.path) }
    content = .value(value)
  }

  /// Makes this a container. A type and its superclass may share one of the same kind.
  func start(_ container: Content) {
    content = content == .nothing || content == container ? container : .encodedTwice
  }

  func appendElement() -> EncodedNode {
    elements.append(EncodedNode())
    return elements[elements.count - 1]
  }

  /// The node of a member.
  ///
  /// - Parameter isNested: whether to continue an existing container. Otherwise the node is new,
  ///   because the last encoding of a member wins.
  func member(_ name: String, isNested: Bool) -> EncodedNode {
    if isNested, let node = members[name] { return node }
    let node = EncodedNode()
    members[name] = node
    return node
  }

  // MARK: - The value

  /// - Parameter depth: the number of containers around this.
  func value(depth: Int) throws -> StoredValue {
    switch content {
    case .nothing: throw ValueError(.invalid, "the type encodes nothing; fix its encode(to:)")
    case .encodedTwice: throw ValueError.encodedTwice
    case .value(nil): throw ValueError(.invalid, "nil cannot be stored here; leave it out")
    case .value(let stored?): return stored
    case .elements: return try array(depth)
    case .members: return try dictionary(depth)
    }
  }

  private func array(_ depth: Int) throws -> StoredValue {
    guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
    let values = try elements.enumerated().map { index, node in
      try addingPath("[\(index)]") { try node.value(depth: depth + 1) }
    }
    guard let unorderedStride else { return .array(values) }
    // An element of several values is sorted as an array.
    let groups = stride(from: 0, to: values.count, by: unorderedStride).map {
      StoredValue.array(Array(values[$0..<min($0 + unorderedStride, values.count)]))
    }
    return .array(
      try StoredValue.inOrder(groups).flatMap { group in
        if case .array(let values) = group { values } else { [group] }
      })
  }

  private func dictionary(_ depth: Int) throws -> StoredValue {
    guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
    var values: [String: StoredValue] = [:]
    for (name, node) in members {
      // A nil property has no member. A nil value of a dictionary is an error: it would be lost.
      if node.content == .value(nil), unorderedStride == nil { continue }
      values[name] = try addingPath(".\(name)") { try node.value(depth: depth + 1) }
    }
    return .dictionary(values)
  }
}

extension ValueError {
  fileprivate static let encodedTwice = ValueError(
    .invalid, "the type encodes itself in two ways at once; fix its encode(to:)")
}

/// A container that encodes its elements in random order, so that the encoder has to sort them.
protocol UnorderedContainer {
  /// The number of array elements for each element: a dictionary without string keys encodes keys
  /// and values in turn.
  static var stride: Int { get }
  var count: Int { get }
}

extension Set: UnorderedContainer {
  static var stride: Int { 1 }
}

extension Dictionary: UnorderedContainer {
  static var stride: Int { 2 }
}
