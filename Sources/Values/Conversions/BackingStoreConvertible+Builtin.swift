// SPDX-License-Identifier: Apache-2.0

extension StoredValue: BackingStoreConvertible {
  public static func fromBackingStore(_ value: StoredValue) -> StoredValue { value }
  public func toBackingStore() -> StoredValue { self }
}

extension String: BackingStoreConvertible {
  public static func fromBackingStore(_ value: StoredValue) throws -> String {
    guard case .string(let text) = value else { throw ValueError.mismatch(value, wanted: "string") }
    return text
  }

  public func toBackingStore() -> StoredValue { .string(self) }
}

extension Bool: BackingStoreConvertible {
  public static func fromBackingStore(_ value: StoredValue) throws -> Bool {
    guard case .boolean(let flag) = value else {
      throw ValueError.mismatch(value, wanted: "boolean")
    }
    return flag
  }

  public func toBackingStore() -> StoredValue { .boolean(self) }
}

// The constraint to Codable makes this overload more specific than the one for Codable types.
extension BackingStoreConvertible where Self: FixedWidthInteger & Codable {
  public static func fromBackingStore(_ value: StoredValue) throws -> Self {
    guard case .integer(let number) = value else {
      throw ValueError.mismatch(value, wanted: "integer")
    }
    guard let exact = Self(exactly: number) else {
      throw ValueError(.invalid, "the stored integer does not fit \(Self.self); use Int64")
    }
    return exact
  }

  public func toBackingStore() throws -> StoredValue {
    guard let number = Int64(exactly: self) else {
      throw ValueError(
        .invalid, "a store holds integers up to \(Int64.max); store a string instead")
    }
    return .integer(number)
  }
}

extension Int: BackingStoreConvertible {}
extension Int8: BackingStoreConvertible {}
extension Int16: BackingStoreConvertible {}
extension Int32: BackingStoreConvertible {}
extension Int64: BackingStoreConvertible {}
extension UInt: BackingStoreConvertible {}
extension UInt8: BackingStoreConvertible {}
extension UInt16: BackingStoreConvertible {}
extension UInt32: BackingStoreConvertible {}
extension UInt64: BackingStoreConvertible {}

extension Double: BackingStoreConvertible {
  /// Reads an integer too if it is exact: bundles often write a slider's default as one.
  public static func fromBackingStore(_ value: StoredValue) throws -> Double {
    switch value {
    case .real(let number): return number
    case .integer(let number):
      guard let exact = Double(exactly: number) else { fallthrough }
      return exact
    default: throw ValueError.mismatch(value, wanted: "real")
    }
  }

  public func toBackingStore() -> StoredValue { .real(self) }
}

extension Float: BackingStoreConvertible {
  /// The nearest `Float`; a number beyond its range is an error.
  public static func fromBackingStore(_ value: StoredValue) throws -> Float {
    let number = try Double.fromBackingStore(value)
    let nearest = Float(number)
    guard nearest.isFinite || !number.isFinite else {
      throw ValueError(.invalid, "the stored number does not fit Float; use Double")
    }
    return nearest
  }

  /// The real with the decimal text of this number: 12.34, where `Double(self)` is
  /// 12.34000015258789. Either reads as the same `Float`.
  public func toBackingStore() -> StoredValue {
    let widened = Double(self)
    guard let short = Double(description), Float(short) == self else { return .real(widened) }
    return .real(short)
  }
}

extension Date: BackingStoreConvertible {
  public static func fromBackingStore(_ value: StoredValue) throws -> Date {
    guard case .date(let date) = value else { throw ValueError.mismatch(value, wanted: "date") }
    return date
  }

  public func toBackingStore() -> StoredValue { .date(self) }
}

extension Data: BackingStoreConvertible {
  public static func fromBackingStore(_ value: StoredValue) throws -> Data {
    guard case .data(let bytes) = value else { throw ValueError.mismatch(value, wanted: "data") }
    return bytes
  }

  public func toBackingStore() -> StoredValue { .data(self) }
}
