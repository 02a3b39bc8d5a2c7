// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Synchronization

/// The value of a setting when no layer of the store has one.
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
    switch self {
    case .constant: true
    case .computed: false
    }
  }
}

/// A default as it would be stored.
struct EncodedDefault: Sendable {
  /// Nil for nil, and where it cannot be stored.
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

/// The default of a property for reads of its key without its type: the last layer of a store
/// object. The property itself does not use it.
final class DeclaredDefault: Sendable {
  private let isConstant: Bool
  private let encode: @Sendable () -> EncodedDefault
  private let known = AtomicLazyReference<Box<EncodedDefault>>()

  init<Value>(_ fallback: SettingDefault<Value>, _ codec: SettingCodec<Value>) {
    isConstant = fallback.isConstant
    encode = { EncodedDefault { try codec.encode(fallback.value) } }
  }

  /// The default of one member of a structure.
  init(_ value: StoredValue?) {
    isConstant = true
    encode = { EncodedDefault { value } }
  }

  /// A constant is encoded once, when it is first asked for.
  var encoded: EncodedDefault {
    if let known = known.load() { return known.value }
    let encoded = encode()
    return isConstant ? known.storeIfNil(Box(encoded)).value : encoded
  }
}
