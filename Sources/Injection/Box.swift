// SPDX-License-Identifier: Apache-2.0

// The engine handles values in type-erased boxes. A `T` is always in a `Box<T>`, and an entry with
// a key for `T` makes nothing else, so a typed key can unbox its value without a check at run time.
// Only `open` does that.

/// A type-erased value.
@usableFromInline
class AnyBox: @unchecked Sendable {  // Sendable: it has no state; its subclasses state their proof.
  @inlinable init() {}

  /// The box to open; nil for a weak reference whose object is deallocated.
  var current: AnyBox? { self }
  /// Whether the box keeps its value alive.
  var lasts: Bool { true }
  /// A box with a weak reference; nil if the value is not a class instance.
  var weakly: AnyBox? { nil }
  var content: Any { self }

  /// Unboxes the value of an entry with a key for `T`; unsound for any other type.
  @inlinable final func open<T>(as type: T.Type = T.self) -> T {
    unsafeDowncast(self, to: Box<T>.self).value
  }
}

// Sendable: constant; and only the one caller of `make` opens a value that is not Sendable, because
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

  override var lasts: Bool { false }
  override var current: AnyBox? {
    // Unwrap first: the optimiser of Swift 6.3 breaks the cast of a nil reference.
    guard let object else { return nil }
    return (object as? T).map { Box($0) }
  }
}

/// An optional, which the container resolves as its wrapped type, or nil if that is not registered
/// or not set.
protocol Nillable {
  static var wrapped: Any.Type { get }
  static func rebox(_ box: AnyBox?) -> AnyBox
  var isNil: Bool { get }
}

extension Optional: Nillable {
  static var wrapped: Any.Type { Wrapped.self }
  static func rebox(_ box: AnyBox?) -> AnyBox { Box(box?.open(as: Wrapped.self)) }
  var isNil: Bool { if case nil = self { true } else { false } }
}
