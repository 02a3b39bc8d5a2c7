// SPDX-License-Identifier: Apache-2.0
//
// Converts JSON text to its stored or shown form without building the value: a built container
// takes many times its bytes. O(bytes), times the depth for objects nested in objects whose names
// are out of order.
//
// Invariants
// - The output equals that of `JSON(storing:)` or `JSON(showing:)` for the value of the text.
// - The memory is that of the longest name, plus, for objects whose names are not canonical or not
//   ASCII, 12 to 24 bytes for each member until the object ends.

/// Reads one value and writes it in canonical form.
struct CanonicalText {
  var scanner: JSONScanner
  private let sink: TextSink
  private let isShown: Bool
  private let maximumDepth: Int
  /// The first reason why the text, though JSON, is not a value of a store.
  private(set) var fault: ValueError?
  /// Whether all objects have their members sorted by bytes. Only a sink that gathers sorts others.
  private(set) var isOrdered = true

  init(
    _ scanner: JSONScanner, to sink: TextSink, isShown: Bool = false, maximumDepth: Int = .max
  ) {
    self.scanner = scanner
    self.sink = sink
    self.isShown = isShown
    self.maximumDepth = maximumDepth
  }

  /// - Returns: the kind of the value; nil for null, which also sets `fault`.
  mutating func value(depth: Int = 0) throws(JSONError) -> StoredValue.Kind? {
    scanner.skipSpace()
    switch scanner.next {
    case UInt8(ascii: "["):
      try array(depth)
      return .array
    case UInt8(ascii: "{"):
      if let name = scanner.markerName { return try marker(name, depth) }
      try object(depth)
      return .dictionary
    case UInt8(ascii: "\""):
      try copyString()
      return .string
    case let byte? where JSONScanner.beginsNumber(byte): return try number()
    default: return write(try scanner.scalar())
    }
  }

  private mutating func array(_ depth: Int) throws(JSONError) {
    check(depth)
    try scanner.enter()
    sink.append(UInt8(ascii: "["))
    if !scanner.accept(UInt8(ascii: "]")) {
      repeat { _ = try value(depth: depth + 1) } while comma()
      try scanner.expect(UInt8(ascii: "]"), "expected , or ]")
    }
    scanner.leave()
    sink.append(UInt8(ascii: "]"))
  }

  private mutating func object(_ depth: Int) throws(JSONError) {
    check(depth)
    var names = MemberNames(scanner.bytes, from: scanner.index)
    let written = sink.bytes.count
    try scanner.enter()
    sink.append(UInt8(ascii: "{"))
    if !scanner.accept(UInt8(ascii: "}")) {
      repeat { try member(&names, depth) } while comma()
      try scanner.expect(UInt8(ascii: "}"), "expected , or }")
    }
    scanner.leave()
    sink.append(UInt8(ascii: "}"))
    guard !names.isOrdered else { return }
    isOrdered = false
    sink.orderMembers(from: written)
  }

  private mutating func member(_ names: inout MemberNames, _ depth: Int) throws(JSONError) {
    let start = try scanner.startOfName()
    try copyString()
    let name = MemberName(scanner.bytes, start + 1..<scanner.index - 1)
    guard names.insert(name) else { throw scanner.duplicateName(at: start) }
    try scanner.expect(UInt8(ascii: ":"), "expected :")
    sink.append(UInt8(ascii: ":"))
    _ = try value(depth: depth + 1)
  }

  private mutating func comma() -> Bool {
    guard scanner.accept(UInt8(ascii: ",")) else { return false }
    sink.append(UInt8(ascii: ","))
    return true
  }

  private mutating func check(_ depth: Int) {
    if depth >= maximumDepth { fail(.nestsTooDeep) }
  }

  private mutating func fail(_ error: ValueError) { fault = fault ?? error }
}

// MARK: - Scalars and markers

extension CanonicalText {
  private mutating func copyString() throws(JSONError) {
    sink.append(UInt8(ascii: "\""))
    let sink = sink
    try scanner.string({ sink.append(escaping: $0) }, { sink.append(escaping: $0) })
    sink.append(UInt8(ascii: "\""))
  }

  private mutating func number() throws(JSONError) -> StoredValue.Kind? {
    let start = scanner.index
    var ahead = scanner
    // Short integers are canonical already; a minus may belong to a zero.
    guard try ahead.numberText(), ahead.index - start <= 18, scanner.next != UInt8(ascii: "-")
    else { return write(try scanner.scalar()) }
    scanner.index = ahead.index
    sink.append(UnsafeBufferPointer(rebasing: scanner.bytes[start..<ahead.index]))
    return .integer
  }

  /// Reads an object that is a marker, see `StoredValue+JSON.swift`.
  private mutating func marker(_ name: String, _ depth: Int) throws(JSONError) -> StoredValue.Kind?
  {
    try scanner.enter()
    defer { scanner.leave() }
    scanner.skipSpace()
    _ = try scanner.string()
    try scanner.expect(UInt8(ascii: ":"), "expected :")
    scanner.skipSpace()
    let kind: StoredValue.Kind?
    if name == "$dictionary", scanner.next == UInt8(ascii: "{") {
      try dictionary(depth)
      kind = .dictionary
    } else if scanner.beginsContainer {
      // A marker needs a scalar.
      try scanner.skipContainer()
      kind = write(.object([JSON.Member(name, .array([]))]))
    } else {
      kind = write(.object([JSON.Member(name, try scanner.scalar())]))
    }
    try scanner.expect(UInt8(ascii: "}"), "expected , or }")
    return kind
  }

  /// Reads a dictionary in `$dictionary`, and keeps the wrapper only where it is needed.
  private mutating func dictionary(_ depth: Int) throws(JSONError) {
    guard scanner.markerName != nil else { return try object(depth) }
    sink.append("{\"$dictionary\":")
    try object(depth)
    sink.append(UInt8(ascii: "}"))
  }

  /// - Returns: the kind of the value; nil after a fault.
  private mutating func write(_ json: JSON) -> StoredValue.Kind? {
    do throws(ValueError) {
      let value = try json.storedValue()
      try JSON.element(value, shown: isShown).write(to: sink)
      return value.kind
    } catch {
      fail(error)
      return nil
    }
  }
}

extension JSONScanner {
  var beginsContainer: Bool { next == UInt8(ascii: "{") || next == UInt8(ascii: "[") }

  /// Reads an array or an object, and drops it.
  mutating func skipContainer() throws(JSONError) {
    var reader = CanonicalText(self, to: TextSink { _ in })
    _ = try reader.value()
    self = reader.scanner
  }
}

// MARK: - The order of members

extension TextSink {
  /// Sorts the members of the object from `start` to the end by bytes; does nothing with a `flush`.
  fileprivate func orderMembers(from start: Int) {
    guard flush == nil else { return }
    var ordered: [UInt8] = [UInt8(ascii: "{")]
    ordered.reserveCapacity(buffer.count - start)
    buffer.withUnsafeBufferPointer { bytes in
      for place in Self.orderedMembers(bytes, from: start) {
        if ordered.count > 1 { ordered.append(UInt8(ascii: ",")) }
        var scanner = JSONScanner(bytes)
        scanner.index = place
        scanner.skipString()
        scanner.index += 1
        scanner.skipValue()
        ordered.append(contentsOf: bytes[place..<scanner.index])
      }
    }
    ordered.append(UInt8(ascii: "}"))
    buffer.replaceSubrange(start..., with: ordered)
  }

  private static func orderedMembers(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> [Int] {
    var places: [Int] = []
    JSONScanner.forEachName(in: bytes, from: start, to: bytes.count) {
      places.append($0.place - 1)
      return true
    }
    func name(_ place: Int) -> MemberName {
      var scanner = JSONScanner(bytes)
      scanner.index = place
      scanner.skipString()
      return MemberName(bytes, place + 1..<scanner.index - 1)
    }
    places.sort { name($0).compare(name($1)) < 0 }
    return places
  }
}
