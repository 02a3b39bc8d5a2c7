// SPDX-License-Identifier: Apache-2.0
//
// Converts containers element by element with a hook. The path of the element is added to a
// `ValueError` of the hook; other errors are rethrown unchanged, so that callers can catch theirs.

extension StoredValue {
  /// The elements of an array, in their order.
  func elements<Element>(_ read: (StoredValue) throws -> Element) throws -> [Element] {
    guard case .array(let elements) = self else { throw ValueError.mismatch(self, wanted: "array") }
    return try elements.enumerated().map { index, element in
      try addingPath("[\(index)]") { try read(element) }
    }
  }

  init<Element>(elements: [Element], _ write: (Element) throws -> StoredValue) throws {
    self = .array(
      try elements.enumerated().map { index, element in
        try addingPath("[\(index)]") { try write(element) }
      })
  }

  /// The members of a dictionary.
  func members<Key: CodingKeyRepresentable, Member>(
    _ read: (StoredValue) throws -> Member
  ) throws -> [Key: Member] {
    guard case .dictionary(let members) = self else {
      throw ValueError.mismatch(self, wanted: "dictionary")
    }
    var found: [Key: Member] = [:]
    for (name, member) in members {
      try addingPath(".\(name)") {
        guard let key = Key(codingKey: AnyCodingKey(stringValue: name)) else {
          throw ValueError(.invalid, "this name is not a \(Key.self); rename or remove it")
        }
        guard found.updateValue(try read(member), forKey: key) == nil else {
          throw ValueError(.invalid, "two names stand for one \(Key.self); remove one")
        }
      }
    }
    return found
  }

  init<Key: CodingKeyRepresentable, Member>(
    members: [Key: Member], _ write: (Member) throws -> StoredValue
  ) throws {
    var stored: [String: StoredValue] = [:]
    for (key, member) in members {
      let name = key.codingKey.stringValue
      try addingPath(".\(name)") {
        guard stored.updateValue(try write(member), forKey: name) == nil else {
          throw ValueError(.invalid, "two keys have this text; fix the codingKey of \(Key.self)")
        }
      }
    }
    self = .dictionary(stored)
  }

  /// The bounds of a range.
  func bounds<Bound: Comparable>(
    _ read: (StoredValue) throws -> Bound
  ) throws -> (lower: Bound, upper: Bound) {
    let bounds = try elements(read)
    guard bounds.count == 2, bounds[0] <= bounds[1] else {
      throw ValueError(.invalid, "the stored array is not a lower and an upper bound; set it again")
    }
    return (bounds[0], bounds[1])
  }

  /// The elements of an array without duplicates.
  func uniqueElements<Element: Hashable>(
    _ read: (StoredValue) throws -> Element
  ) throws -> Set<Element> {
    var set: Set<Element> = []
    for (index, element) in try elements(read).enumerated() {
      guard set.insert(element).inserted else {
        throw ValueError(.invalid, "duplicate element in a set; set the value again")
          .within("[\(index)]")
      }
    }
    return set
  }

  init<Element>(
    uniqueElements: Set<Element>, _ write: (Element) throws -> StoredValue
  ) throws {
    self = .array(try Self.inOrder(try uniqueElements.map(write)))
  }

  /// Sorts values by their encodings: numbers by value, text by bytes, arrays by their text.
  ///
  /// - Throws: `ValueError` when two values are equal, or one cannot be stored.
  static func inOrder(_ values: [StoredValue]) throws(ValueError) -> [StoredValue] {
    var columns: [(key: TaggedCell, value: StoredValue)] = []
    for value in values { columns.append((try TaggedCell(value), value)) }
    columns.sort { $0.key < $1.key }
    for (one, next) in zip(columns, columns.dropFirst()) where one.key == next.key {
      throw ValueError(
        .invalid, "two different elements have one stored value; fix the hook that stores them")
    }
    return columns.map(\.value)
  }
}

/// Runs a hook and adds the path of the part to a `ValueError`.
func addingPath<Result>(
  _ path: @autoclosure () -> String, _ hook: () throws -> Result
) throws -> Result {
  do {
    return try hook()
  } catch let error as ValueError {
    throw error.within(path())
  }
}
