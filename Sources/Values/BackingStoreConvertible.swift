// SPDX-License-Identifier: Apache-2.0

/// A type whose values a store can keep.
///
/// The two hooks are each other's inverse. Conform an own type through one that already conforms:
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
/// An optional is not a type of its own here: nil is the absence of a value, so a property may be
/// optional, an element of an array may not.
public protocol BackingStoreConvertible: SendableMetatype {
  /// The value that `value` stands for.
  ///
  /// - Throws: any error when `value` has the wrong type or cannot be read; the stored bytes stay.
  static func fromBackingStore(_ value: StoredValue) throws -> Self

  /// What to store.
  ///
  /// - Throws: any error when this value cannot be stored; the store keeps what it had.
  func toBackingStore() throws -> StoredValue
}
