// SPDX-License-Identifier: Apache-2.0
//
// Default hooks for types that are `RawRepresentable` or `Codable`.

extension BackingStoreConvertible where Self: RawRepresentable, RawValue: BackingStoreConvertible {
  /// An enumeration with raw values is stored as its raw value.
  public static func fromBackingStore(_ value: StoredValue) throws -> Self {
    try known(value)
  }

  public func toBackingStore() throws -> StoredValue { try rawValue.toBackingStore() }

  fileprivate static func known(_ value: StoredValue) throws -> Self {
    guard let known = Self(rawValue: try RawValue.fromBackingStore(value)) else {
      throw ValueError(.invalid, "the stored value is not a \(Self.self); set it again")
    }
    return known
  }
}

extension BackingStoreConvertible where Self: Codable {
  /// A `Codable` type is stored as what it encodes, usually a dictionary of its members.
  public static func fromBackingStore(_ value: StoredValue) throws -> Self {
    try StoredValueDecoder.read(by: Self.init(from:), from: value)
  }

  public func toBackingStore() throws -> StoredValue {
    try StoredValueEncoder.value(by: encode(to:))
  }
}

extension BackingStoreConvertible
where Self: RawRepresentable & Codable, RawValue: BackingStoreConvertible {
  /// A type that is both is stored as its raw value: shorter, and the same as `Codable`'s encoding
  /// of an enumeration.
  public static func fromBackingStore(_ value: StoredValue) throws -> Self {
    try known(value)
  }

  public func toBackingStore() throws -> StoredValue { try rawValue.toBackingStore() }
}
