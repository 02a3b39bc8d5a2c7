// SPDX-License-Identifier: Apache-2.0

/// A part of a value during encoding. A class, because encoding containers share it.
final class EncodedNode {
  enum Content {
    case nothing
    case null
    case value(StoredValue)
    case elements([EncodedNode])
    case members([String: EncodedNode])
    /// Encoded as two different kinds.
    case encodedTwice
  }

  private var content = Content.nothing
  /// The stride of an `UnorderedContainer`; nil for others.
  var unorderedStride: Int?

  func set(_ new: Content, at path: [any CodingKey]) throws {
    guard case .nothing = content else { throw ValueError.encodedTwice.within(path) }
    content = new
  }

  /// Makes this a container, or keeps one of the same kind: a type and its superclass may share it.
  func start(_ container: Content) {
    switch (content, container) {
    case (.nothing, _): content = container
    case (.elements, .elements), (.members, .members): break
    default: content = .encodedTwice
    }
  }

  var count: Int {
    if case .elements(let nodes) = content { nodes.count } else { 0 }
  }

  func appendElement() -> EncodedNode {
    let node = EncodedNode()
    guard case .elements(var nodes) = content else { return node }
    content = .nothing  // avoids a copy of the array
    nodes.append(node)
    content = .elements(nodes)
    return node
  }

  /// The existing member, or a new one.
  func container(_ name: String) -> EncodedNode {
    if case .members(let nodes) = content, let node = nodes[name] { return node }
    return member(name)
  }

  /// A new node each time: the last encoding of a member wins.
  func member(_ name: String) -> EncodedNode {
    let node = EncodedNode()
    guard case .members(var nodes) = content else { return node }
    content = .nothing
    nodes[name] = node
    content = .members(nodes)
    return node
  }
}

// MARK: - The value

extension EncodedNode {
  /// - Parameter depth: the number of containers around this.
  func value(depth: Int) throws -> StoredValue {
    switch content {
    case .nothing: throw ValueError(.invalid, "the type encodes nothing; fix its encode(to:)")
    case .encodedTwice: throw ValueError.encodedTwice
    case .null: throw ValueError(.invalid, "nil cannot be stored here; leave it out")
    case .value(let value): return value
    case .elements(let nodes): return try array(nodes, depth)
    case .members(let nodes): return try dictionary(nodes, depth)
    }
  }

  private func array(_ nodes: [EncodedNode], _ depth: Int) throws -> StoredValue {
    guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
    let values = try nodes.enumerated().map { index, node in
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

  private func dictionary(_ nodes: [String: EncodedNode], _ depth: Int) throws -> StoredValue {
    guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
    var members: [String: StoredValue] = [:]
    for (name, node) in nodes {
      // A nil property has no member; but a nil element of a dictionary would be lost silently.
      if case .null = node.content, unorderedStride == nil { continue }
      members[name] = try addingPath(".\(name)") { try node.value(depth: depth + 1) }
    }
    return .dictionary(members)
  }
}

extension ValueError {
  fileprivate static let encodedTwice = ValueError(
    .invalid, "the type encodes itself in two ways at once; fix its encode(to:)")
}

/// Runs a hook and adds the coding path to a `ValueError`.
func addingPath<Result>(_ path: [any CodingKey], _ hook: () throws -> Result) throws -> Result {
  do {
    return try hook()
  } catch let error as ValueError {
    throw error.within(path)
  }
}
