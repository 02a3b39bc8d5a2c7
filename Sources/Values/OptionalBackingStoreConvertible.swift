// SPDX-License-Identifier: Apache-2.0

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
