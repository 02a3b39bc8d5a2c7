// SPDX-License-Identifier: Apache-2.0
//
// How the values of one property are stored, apart from their type: so that one type may be stored
// in several ways, and a type of somebody else's at all.

/// A pair of hooks, each the other's inverse: from a stored value to a value, and back.
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
/// Declared like that, in an extension without conditions, it is found through containers too. nil
/// is the absence of a value, so the hooks of an optional property see the wrapped value only.
public struct Transformer<Value: Sendable>: Sendable {
  private let from: @Sendable (StoredValue) throws -> Value
  private let to: @Sendable (Value) throws -> StoredValue

  /// Hooks through a type that a store can hold; `StoredValue` itself is one.
  ///
  /// - Parameters:
  ///   - fromBackingStore: the value for a stored one; nil or an error when it cannot be read.
  ///   - toBackingStore: what to store; an error when the value cannot be stored.
  public init<Stored: BackingStoreConvertible>(
    fromBackingStore: @escaping @Sendable (Stored) throws -> Value?,
    toBackingStore: @escaping @Sendable (Value) throws -> Stored
  ) {
    from = { stored in
      guard let value = try fromBackingStore(Stored.fromBackingStore(stored)) else {
        throw ValueError(
          .invalid, "the stored value is not a \(Value.self); set it anew, or mend the hook")
      }
      return value
    }
    to = { try toBackingStore($0).toBackingStore() }
  }

  /// The value that `value` stands for.
  ///
  /// - Throws: what the hook throws; `ValueError` when the stored value has another type.
  public func fromBackingStore(_ value: StoredValue) throws -> Value { try from(value) }

  /// What to store.
  ///
  /// - Throws: what the hook throws.
  public func toBackingStore(_ value: Value) throws -> StoredValue { try to(value) }
}

// MARK: - For a type

extension Transformer where Value: BackingStoreConvertible {
  /// By the type's own hooks.
  public static var own: Transformer {
    Transformer(
      fromBackingStore: { try Value.fromBackingStore($0) },
      toBackingStore: { (value: Value) in try value.toBackingStore() })
  }
}

extension Transformer where Value: RawRepresentable, Value.RawValue: BackingStoreConvertible {
  /// As the raw value.
  public static var rawValue: Transformer {
    Transformer(
      fromBackingStore: { (raw: Value.RawValue) in Value(rawValue: raw) },
      toBackingStore: { $0.rawValue })
  }
}

extension Transformer where Value: Codable {
  /// By the type's `Codable` conformance, as text, numbers, arrays and dictionaries that other
  /// programs can read. What conforms to `BackingStoreConvertible`, within the value too, is stored
  /// as it says itself.
  public static var codable: Transformer {
    Transformer(
      fromBackingStore: { try StoredValueDecoder.read(Value.self, from: $0) },
      toBackingStore: { try StoredValueEncoder.value(of: $0) })
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

  /// For a set of such values: stored as an array whose order depends on the elements only, so that
  /// equal sets are stored alike.
  public func set() -> Transformer<Set<Value>> where Value: Hashable {
    Transformer<Set<Value>>(
      fromBackingStore: { try $0.uniqueElements(from) },
      toBackingStore: { try StoredValue(uniqueElements: $0, to) })
  }
}
