// SPDX-License-Identifier: Apache-2.0

/// A type whose values a store can keep.
///
/// The two hooks are inverse to each other. Conform your type through one that conforms already:
///
/// ```swift
/// extension Theme: BackingStoreConvertible {
///   static func fromBackingStore(_ value: StoredValue) throws -> Theme {
///     try Theme(name: String.fromBackingStore(value))
///   }
///   func toBackingStore() -> StoredValue { .string(name) }
/// }
/// ```
///
/// Optionals do not conform: nil is the absence of a value, so a property may be optional, an
/// element of an array may not.
public protocol BackingStoreConvertible: SendableMetatype {
  /// Converts a stored value.
  ///
  /// - Throws: any error when `value` has the wrong type or cannot be read; the store keeps its
  ///   bytes.
  static func fromBackingStore(_ value: StoredValue) throws -> Self

  /// The value to store.
  ///
  /// - Throws: any error when this value cannot be stored; the store keeps its old value.
  func toBackingStore() throws -> StoredValue
}

/// An optional of a type that a store can keep. Only `Optional` conforms.
///
/// It stands for `Wrapped?` where a generic parameter cannot: in the initialiser that Swift calls
/// for a property declared without a value.
public protocol OptionalBackingStoreConvertible: ExpressibleByNilLiteral, SendableMetatype {
  associatedtype Wrapped: BackingStoreConvertible
  init(_ wrapped: Wrapped)
  /// The wrapped value, or nil.
  var wrapped: Wrapped? { get }
}

extension Optional: OptionalBackingStoreConvertible where Wrapped: BackingStoreConvertible {
  public var wrapped: Wrapped? { self }
}

// MARK: - Default hooks

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
    try value.decoded(as: Self.self)
  }

  public func toBackingStore() throws -> StoredValue {
    try StoredValue(coding: self)
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
