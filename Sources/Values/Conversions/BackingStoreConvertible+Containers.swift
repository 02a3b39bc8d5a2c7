// SPDX-License-Identifier: Apache-2.0

extension Array: BackingStoreConvertible where Element: BackingStoreConvertible {
  public static func fromBackingStore(_ value: StoredValue) throws -> [Element] {
    try value.elements(Element.fromBackingStore)
  }

  public func toBackingStore() throws -> StoredValue {
    try StoredValue(elements: self) { try $0.toBackingStore() }
  }
}

/// Stored under the texts of the keys, as `Codable` does it: `[7: "x"]` as `{"7":"x"}`. Keys are
/// `String`, `Int`, and enumerations of those that declare `CodingKeyRepresentable`.
extension Dictionary: BackingStoreConvertible
where Key: CodingKeyRepresentable, Value: BackingStoreConvertible {
  /// - Throws: `ValueError`, also for a text that is not a key, and for two texts of one key: "7"
  ///   and "07".
  public static func fromBackingStore(_ value: StoredValue) throws -> [Key: Value] {
    try value.members(Value.fromBackingStore)
  }

  public func toBackingStore() throws -> StoredValue {
    try StoredValue(members: self) { try $0.toBackingStore() }
  }
}

/// Stored as an array in an order that depends only on the elements, so equal sets have equal
/// bytes.
extension Set: BackingStoreConvertible where Element: BackingStoreConvertible {
  /// - Throws: `ValueError`, also for a duplicate element.
  public static func fromBackingStore(_ value: StoredValue) throws -> Set<Element> {
    try value.uniqueElements(Element.fromBackingStore)
  }

  public func toBackingStore() throws -> StoredValue {
    try StoredValue(uniqueElements: self) { try $0.toBackingStore() }
  }
}

/// Stored as its two bounds, as `Codable` does it: `0..<10` as `[0,10]`.
extension Range: BackingStoreConvertible where Bound: BackingStoreConvertible {
  /// - Throws: `ValueError`, also for a lower bound above the upper one.
  public static func fromBackingStore(_ value: StoredValue) throws -> Range<Bound> {
    let (lower, upper) = try value.bounds(Bound.fromBackingStore)
    return lower..<upper
  }

  public func toBackingStore() throws -> StoredValue {
    try StoredValue(elements: [lowerBound, upperBound]) { try $0.toBackingStore() }
  }
}

/// Stored as its two bounds, as `Codable` does it: `0...9` as `[0,9]`.
extension ClosedRange: BackingStoreConvertible where Bound: BackingStoreConvertible {
  /// - Throws: `ValueError`, also for a lower bound above the upper one.
  public static func fromBackingStore(_ value: StoredValue) throws -> ClosedRange<Bound> {
    let (lower, upper) = try value.bounds(Bound.fromBackingStore)
    return lower...upper
  }

  public func toBackingStore() throws -> StoredValue {
    try StoredValue(elements: [lowerBound, upperBound]) { try $0.toBackingStore() }
  }
}
