// SPDX-License-Identifier: Apache-2.0

// Values and keys without their static types.
//
// The container handles values in type-erased boxes. A `T` is always in a `Box<T>`, and an entry
// with a key for `T` makes nothing else, so a typed key can unbox its value without a check at run
// time. Only `open` does that.

/// A type-erased value.
@usableFromInline
class AnyBox: @unchecked Sendable {  // Sendable: no state; each subclass gives its own reason.
  @inlinable init() {}

  /// The box to open; nil for a weak reference whose object is deallocated.
  var current: AnyBox? { self }
  /// A box with a weak reference; nil if the value is not a class instance.
  var weakly: AnyBox? { nil }
  var content: Any { self }

  /// Unboxes the value of an entry with a key for `T`; unsound for any other type.
  @inlinable final func open<T>(as type: T.Type = T.self) -> T {
    unsafeDowncast(self, to: Box<T>.self).value
  }
}

// Sendable: constant. A value that is not Sendable is only opened by the caller of `make`, because
// every method that returns shared objects requires `T: Sendable`.
@usableFromInline
final class Box<T>: AnyBox, @unchecked Sendable {
  @usableFromInline let value: T

  @inlinable init(_ value: T) { self.value = value }

  override var content: Any { value }
  // Tests the dynamic type, because `as? AnyObject` boxes and succeeds for every value.
  override var weakly: AnyBox? {
    guard type(of: content) is AnyClass else { return nil }
    let weakly = WeakBox<T>(value as AnyObject)
    // The cast boxes an error although its type is a class.
    return withExtendedLifetime(value) { weakly.current == nil ? nil : weakly }
  }
}

// Sendable: its value is only read through a new `Box`.
private final class WeakBox<T>: AnyBox, @unchecked Sendable {
  private weak var object: AnyObject?

  init(_ object: AnyObject) { self.object = object }

  override var current: AnyBox? {
    // Unwrap first: the optimiser of Swift 6.3 breaks the cast of a nil reference.
    guard let object else { return nil }
    return (object as? T).map { Box($0) }
  }
}

/// A type-erased key.
@usableFromInline
struct AnyKey: Hashable, Sendable {
  @usableFromInline let type: Any.Type
  @usableFromInline let name: String?

  @inlinable init(_ type: Any.Type, name: String? = nil) {
    (self.type, self.name) = (type, name)
  }

  var id: ObjectIdentifier { ObjectIdentifier(type) }
  var unnamed: AnyKey { AnyKey(type) }
  /// The keys by which a lookup finds a registration with this key.
  var matching: [AnyKey] { name == nil ? [self] : [self, unnamed] }
  /// For an optional type: the key of the wrapped type with the same name.
  var wrapped: (type: any AnyOptional.Type, key: AnyKey)? {
    (type as? any AnyOptional.Type).map { ($0, AnyKey($0.wrapped, name: name)) }
  }
  var label: String { name.map { "\(type) \"\($0)\"" } ?? "\(type)" }

  @usableFromInline static func == (one: AnyKey, other: AnyKey) -> Bool {
    one.type == other.type && one.name == other.name
  }

  @usableFromInline func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(name)
  }
}

// MARK: - Values that the container treats specially

/// An optional, which the container resolves as its wrapped type, or nil if that is not registered
/// or not set.
protocol AnyOptional {
  static var wrapped: Any.Type { get }
  static func rebox(_ box: AnyBox?) -> AnyBox
  var isNil: Bool { get }
}

extension Optional: AnyOptional {
  static var wrapped: Any.Type { Wrapped.self }
  static func rebox(_ box: AnyBox?) -> AnyBox { Box(box?.open(as: Wrapped.self)) }
  var isNil: Bool { if case nil = self { true } else { false } }
}

/// An object that the container completes after its initialiser.
public protocol Injectable: AnyObject {
  /// Called after all `@Injected` properties are filled and `then:` has run; may be empty.
  ///
  /// There is no default implementation, because a subclass could not override it.
  func didInject()
}
