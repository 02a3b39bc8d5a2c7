// SPDX-License-Identifier: Apache-2.0

extension Array: BackingStoreConvertible where Element: BackingStoreConvertible {
  public static func fromBackingStore(_ value: StoredValue) throws -> [Element] {
    try value.elements(Element.fromBackingStore)
  }

  public func toBackingStore() throws -> StoredValue {
    try StoredValue(elements: self) { try $0.toBackingStore() }
  }
}

extension Dictionary: BackingStoreConvertible where Key == String, Value: BackingStoreConvertible {
  public static func fromBackingStore(_ value: StoredValue) throws -> [String: Value] {
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
