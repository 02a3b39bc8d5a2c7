// SPDX-License-Identifier: Apache-2.0

// The engine does not know types: it moves boxes. A box with a `T` is always a `Box<T>`, and an
// entry filed under `T` makes nothing else, so a typed key may open what it finds without a check
// at run time. Only `open` does that.

/// A value whose type the engine does not know.
@usableFromInline
class AnyBox: @unchecked Sendable {  // Sendable: it has no state; for its subclasses see there.
  @inlinable init() {}

  /// The box to open; nil when it was kept weakly and is gone.
  var current: AnyBox? { self }
  var lasts: Bool { true }
  /// Keeps the value weakly; nil when that is not a class instance.
  var weakly: AnyBox? { nil }
  var content: Any { self }

  /// Sound for a box from an entry filed under `T`.
  @inlinable final func open<T>(as type: T.Type = T.self) -> T {
    unsafeDowncast(self, to: Box<T>.self).value
  }
}

// Sendable: constant; and a value that is not Sendable is opened only by the one caller it was
// made for, because everything that hands out shared objects asks for `T: Sendable`.
@usableFromInline
final class Box<T>: AnyBox, @unchecked Sendable {
  @usableFromInline let value: T

  @inlinable init(_ value: T) { self.value = value }

  override var content: Any { value }
  // Asked of the dynamic type: `as? AnyObject` succeeds for every value, by boxing it.
  override var weakly: AnyBox? {
    guard type(of: content) is AnyClass else { return nil }
    let weakly = WeakBox<T>(value as AnyObject)
    // An error is boxed by the cast, although its type is a class.
    return withExtendedLifetime(value) { weakly.current == nil ? nil : weakly }
  }
}

// Sendable: only ever turned into a box again, and then see Box.
private final class WeakBox<T>: AnyBox, @unchecked Sendable {
  private weak var object: AnyObject?

  init(_ object: AnyObject) { self.object = object }

  override var lasts: Bool { false }
  override var current: AnyBox? {
    // Unwrapped first: the optimiser of Swift 6.3 breaks the cast of a nil reference.
    guard let object else { return nil }
    return (object as? T).map { Box($0) }
  }
}

/// An optional asks for what it wraps, and is nil when that is not registered or not set.
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
