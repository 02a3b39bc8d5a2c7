// SPDX-License-Identifier: Apache-2.0

/// An object of scalars and one member that may be large, which is not decoded.
package struct JSONRecord {
  /// The large member.
  package enum Content {
    case scalar(JSON)
    /// An array or a dictionary in its stored form.
    case container(StoredValue.Kind, String)
    /// JSON that is not a value of a store.
    case none(ValueError)
  }

  /// The known names, and which of them is the large member.
  package struct Names {
    let all: [String]
    let large: String

    package init(_ all: [String], large: String) {
      self.all = all
      self.large = large
    }
  }

  /// Members by name. There are few, which are found sooner than they would be hashed.
  package struct Members {
    private var all: [(name: String, value: JSON)] = []

    package subscript(name: String) -> JSON? { all.first { $0.name == name }?.value }

    fileprivate mutating func append(_ name: String, _ value: JSON) { all.append((name, value)) }
  }

  package private(set) var isObject = false
  /// The other known members. Arrays and objects are read as empty ones.
  package private(set) var members = Members()
  package private(set) var content: Content?
  /// The first unknown name.
  package private(set) var unknownName: String?

  /// Parses exactly one value with optional white space around it. O(n).
  package init(parsing text: UnsafeBufferPointer<UInt8>, _ names: Names) throws(JSONError) {
    var scanner = JSONScanner(text)
    scanner.skipSpace()
    isObject = scanner.next == UInt8(ascii: "{")
    if isObject { try readMembers(&scanner, names) } else { _ = try Self.shallowValue(&scanner) }
    try scanner.end()
  }

  private mutating func readMembers(
    _ scanner: inout JSONScanner, _ names: Names
  ) throws(JSONError) {
    var unknownNames = MemberNames(scanner.bytes, from: scanner.index)
    try scanner.enter()
    defer { scanner.leave() }
    if scanner.accept(UInt8(ascii: "}")) { return }
    repeat {
      let start = try scanner.startOfName()
      let name = try scanner.string()
      let isKnown = names.all.contains(name)
      let isNew =
        isKnown
        ? members[name] == nil && !(name == names.large && content != nil)
        : unknownNames.insert(MemberName(scanner.bytes, start + 1..<scanner.index - 1))
      guard isNew else { throw scanner.duplicateName(at: start) }
      try scanner.expect(UInt8(ascii: ":"), "expected :")
      if name == names.large {
        content = try Self.content(&scanner)
      } else {
        let value = try Self.shallowValue(&scanner)
        if isKnown { members.append(name, value) } else { unknownName = unknownName ?? name }
      }
    } while scanner.accept(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "}"), "expected , or }")
  }

  /// Reads a scalar, and an array or an object as an empty one.
  private static func shallowValue(_ scanner: inout JSONScanner) throws(JSONError) -> JSON {
    scanner.skipSpace()
    guard scanner.beginsContainer else { return try scanner.scalar() }
    let isArray = scanner.next == UInt8(ascii: "[")
    try scanner.skipContainer()
    return isArray ? .array([]) : .object([])
  }

  private static func content(_ scanner: inout JSONScanner) throws(JSONError) -> Content {
    scanner.skipSpace()
    guard scanner.beginsContainer else { return .scalar(try scanner.scalar()) }
    let sink = TextSink()
    var reader = CanonicalText(scanner, to: sink, maximumDepth: StoredValue.maximumDepth)
    let kind = try reader.value()
    scanner = reader.scanner
    if let fault = reader.fault { return .none(fault) }
    let text = String(decoding: sink.bytes, as: UTF8.self)
    switch kind {
    case .array?, .dictionary?: return .container(kind ?? .array, text)
    // A marker that stands for a scalar.
    default: return .scalar(try JSON(parsing: text))
    }
  }
}

extension JSONRecord.Content {
  /// The columns for the value, which must be of type `kind`.
  ///
  /// - Parameter tag: the tag of an opaque value.
  /// - Throws: `ValueError` for another type, or JSON that is not a value of a store.
  package func columns(
    of kind: StoredValue.Kind, tag: JSON?
  ) throws(ValueError) -> TaggedCell {
    switch self {
    case .none(let error): throw error
    case .container(let found, let text):
      let isArray = found == .array
      guard kind == found else {
        return try Self.columns(of: kind, isArray ? .array([]) : .object([]), tag)
      }
      return TaggedCell(tag: (isArray ? Tag.array : .dictionary).rawValue, cell: .text(text))
    case .scalar(let json): return try Self.columns(of: kind, json, tag)
    }
  }

  private static func columns(
    of kind: StoredValue.Kind, _ json: JSON, _ tag: JSON?
  ) throws(ValueError) -> TaggedCell {
    if kind == .opaque { return try TaggedCell(.opaque(OpaqueValue(tag: tag, json))) }
    return try TaggedCell(json.storedValue(of: kind))
  }
}
