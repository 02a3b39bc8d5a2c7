// SPDX-License-Identifier: Apache-2.0
//
// Hooks that a type gets from what it is already, by declaring `BackingStoreConvertible`.

extension BackingStoreConvertible where Self: RawRepresentable, RawValue: BackingStoreConvertible {
  /// An enumeration with raw values is stored as its raw value.
  public static func fromBackingStore(_ value: StoredValue) throws -> Self {
    try known(value)
  }

  public func toBackingStore() throws -> StoredValue { try rawValue.toBackingStore() }

  fileprivate static func known(_ value: StoredValue) throws -> Self {
    guard let known = Self(rawValue: try RawValue.fromBackingStore(value)) else {
      throw ValueError(.invalid, "the stored value is no \(Self.self); set it anew")
    }
    return known
  }
}

extension BackingStoreConvertible where Self: Codable {
  /// A `Codable` type is stored as a dictionary of its members, or what else it encodes.
  public static func fromBackingStore(_ value: StoredValue) throws -> Self {
    try StoredValueDecoder.read(by: Self.init(from:), from: value)
  }

  public func toBackingStore() throws -> StoredValue {
    try StoredValueEncoder.value(by: encode(to:))
  }
}

extension BackingStoreConvertible
where Self: RawRepresentable & Codable, RawValue: BackingStoreConvertible {
  /// A type that is both is stored as its raw value, which is shorter, and what `Codable` does for
  /// an enumeration.
  public static func fromBackingStore(_ value: StoredValue) throws -> Self {
    try known(value)
  }

  public func toBackingStore() throws -> StoredValue { try rawValue.toBackingStore() }
}
