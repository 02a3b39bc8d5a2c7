// SPDX-License-Identifier: Apache-2.0
//
// Converts the values of one property independently of their type: so that a type can be stored in
// several ways, and a type of another module can be stored at all.

/// A pair of inverse hooks: from a stored value to a value, and back.
///
/// ```swift
/// extension Transformer {
///   static var hexColor: Transformer<Color> {
///     Transformer<Color>(fromBackingStore: Color.init(hex:), toBackingStore: \.hex)
///   }
/// }
///
/// @Setting(by: .hexColor) var accent = Color.blue
/// @Setting(by: .hexColor) var tint: Color?
/// @Setting(by: .hexColor.array()) var palette: [Color] = []
/// ```
///
/// An unconditional extension, as here, lets Swift find the transformer through containers too. nil
/// is the absence of a value, so the hooks of an optional property get only wrapped values.
public struct Transformer<Value: Sendable>: Sendable {
  private let from: @Sendable (StoredValue) throws -> Value
  private let to: @Sendable (Value) throws -> StoredValue

  /// Converts through a type that a store can keep, such as `StoredValue` itself.
  ///
  /// - Parameters:
  ///   - fromBackingStore: converts a stored value; returns nil or throws when it cannot be read.
  ///   - toBackingStore: converts to the value to store; throws when it cannot be stored.
  public init<Stored: BackingStoreConvertible>(
    fromBackingStore: @escaping @Sendable (Stored) throws -> Value?,
    toBackingStore: @escaping @Sendable (Value) throws -> Stored
  ) {
    from = { stored in
      guard let value = try fromBackingStore(Stored.fromBackingStore(stored)) else {
        throw ValueError(
          .invalid, "the stored value is not a \(Value.self); set it again, or fix the hook")
      }
      return value
    }
    to = { try toBackingStore($0).toBackingStore() }
  }

  /// Converts a stored value.
  ///
  /// - Throws: the hook's error; `ValueError` when the stored value has another type.
  public func fromBackingStore(_ value: StoredValue) throws -> Value { try from(value) }

  /// The value to store.
  ///
  /// - Throws: the hook's error.
  public func toBackingStore(_ value: Value) throws -> StoredValue { try to(value) }
}

// MARK: - For a type

extension Transformer where Value: BackingStoreConvertible {
  /// Uses the type's own hooks.
  public static var own: Transformer {
    Transformer(
      fromBackingStore: { try Value.fromBackingStore($0) },
      toBackingStore: { (value: Value) in try value.toBackingStore() })
  }
}

extension Transformer where Value: RawRepresentable, Value.RawValue: BackingStoreConvertible {
  /// Stores the raw value.
  public static var rawValue: Transformer {
    Transformer(
      fromBackingStore: { (raw: Value.RawValue) in Value(rawValue: raw) },
      toBackingStore: { $0.rawValue })
  }
}

extension Transformer where Value: Codable {
  /// Uses the type's `Codable` conformance, and stores strings, numbers, arrays and dictionaries
  /// that other programs can read. Parts that conform to `BackingStoreConvertible` use their own
  /// hooks.
  public static var codable: Transformer {
    Transformer(
      fromBackingStore: { stored in try stored.decoded { try $0.decode(Value.self) } },
      toBackingStore: { value in try StoredValueEncoder.value { try $0.encode(value) } })
  }
}

// MARK: - For containers

extension Transformer {
  /// For an array of such values, in their order.
  public func array() -> Transformer<[Value]> {
    Transformer<[Value]>(
      fromBackingStore: { try $0.elements(from) },
      toBackingStore: { try StoredValue(elements: $0, to) })
  }

  /// For a dictionary of such values.
  public func dictionary() -> Transformer<[String: Value]> {
    Transformer<[String: Value]>(
      fromBackingStore: { try $0.members(from) },
      toBackingStore: { try StoredValue(members: $0, to) })
  }

  /// For a set of such values, stored as an array in an order that depends only on the elements.
  public func set() -> Transformer<Set<Value>> where Value: Hashable {
    Transformer<Set<Value>>(
      fromBackingStore: { try $0.uniqueElements(from) },
      toBackingStore: { try StoredValue(uniqueElements: $0, to) })
  }
}
