// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Synchronization

/// The value of a setting if no layer of the store has one.
@usableFromInline
enum SettingDefault<Value: Sendable>: Sendable {
  case constant(Value)
  /// Computed at each use.
  case computed(@Sendable () -> Value)

  @inlinable var value: Value {
    switch self {
    case .constant(let value): value
    case .computed(let body): body()
    }
  }

  var isConstant: Bool {
    if case .constant = self { true } else { false }
  }
}

/// The stored form of a default.
struct EncodedDefault: Sendable {
  /// Nil for a default that is nil or cannot be stored.
  let value: StoredValue?
  /// Why it cannot be stored; nil if it can.
  let problem: String?

  init(_ encode: () throws -> StoredValue?) {
    do {
      let value = try encode()
      // A write would reject a value that nests too deep.
      if let value { _ = try TaggedCell(value) }
      (self.value, problem) = (value, nil)
    } catch {
      (value, problem) = (nil, "\((error as? SettingFailure)?.cause ?? error)")
    }
  }
}

/// The default of a property for reads by key, which do not know the property's type: the last
/// layer of a store object. The property itself does not use it.
final class DeclaredDefault: Sendable {
  private let isConstant: Bool
  private let encode: @Sendable () -> EncodedDefault
  private let encodedConstant = AtomicLazyReference<Box<EncodedDefault>>()

  init<Value>(_ fallback: SettingDefault<Value>, _ codec: SettingCodec<Value>) {
    isConstant = fallback.isConstant
    encode = { EncodedDefault { try codec.encode(fallback.value) } }
  }

  /// A constant is encoded once, at the first access.
  var encoded: EncodedDefault {
    if let encoded = encodedConstant.load() { return encoded.value }
    let encoded = encode()
    return isConstant ? encodedConstant.storeIfNil(Box(encoded)).value : encoded
  }
}
