// SPDX-License-Identifier: Apache-2.0

/// A part of a value during encoding. A class, because encoding containers share it.
final class EncodedNode {
  enum Kind { case nothing, null, value, elements, members, encodedTwice }

  private var kind = Kind.nothing
  private var stored: StoredValue?
  private var elements: [EncodedNode] = []
  private var members: [String: EncodedNode] = [:]
  /// The stride of an `UnorderedContainer`; nil for others.
  var unorderedStride: Int?

  var count: Int { elements.count }

  /// - Parameter value: nil for nil.
  func set(_ value: StoredValue?, at path: [any CodingKey]) throws {
    guard case .nothing = kind else { throw ValueError.encodedTwice.within(path) }
    kind = value == nil ? .null : .value
    stored = value
  }

  /// Makes this a container, or keeps one of the same kind: a type and its superclass may share it.
  func start(_ container: Kind) {
    kind = kind == .nothing || kind == container ? container : .encodedTwice
  }

  func appendElement() -> EncodedNode {
    elements.append(EncodedNode())
    return elements[elements.count - 1]
  }

  /// The existing member, or a new one.
  func container(_ name: String) -> EncodedNode { members[name] ?? member(name) }

  /// A new node each time: the last encoding of a member wins.
  func member(_ name: String) -> EncodedNode {
    let node = EncodedNode()
    members[name] = node
    return node
  }
}

// MARK: - The value

extension EncodedNode {
  /// - Parameter depth: the number of containers around this.
  func value(depth: Int) throws -> StoredValue {
    switch kind {
    case .nothing: throw ValueError(.invalid, "the type encodes nothing; fix its encode(to:)")
    case .encodedTwice: throw ValueError.encodedTwice
    case .null, .value:
      guard let stored else {
        throw ValueError(.invalid, "nil cannot be stored here; leave it out")
      }
      return stored
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
      // A nil property has no member; but a nil element of a dictionary would be lost silently.
      if node.kind == .null, unorderedStride == nil { continue }
      values[name] = try addingPath(".\(name)") { try node.value(depth: depth + 1) }
    }
    return .dictionary(values)
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
