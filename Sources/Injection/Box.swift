// SPDX-License-Identifier: Apache-2.0

// The engine does not know types: it moves boxes. A box with a `T` is always a `Box<T>`, and an
// entry filed under `T` makes nothing else, so a typed key may open what it finds without a check
// at run time. Only `open` does that.

/// A value whose type the engine does not know.
@usableFromInline
class AnyBox: @unchecked Sendable {  // Sendable: it has no state; for its subclass see there.
  @inlinable init() {}

  /// The value when it is a class instance.
  var object: AnyObject? { nil }
  var injectable: (any Injectable)? { nil }

  /// Sound for a box from an entry filed under `T`.
  @inlinable
  final func open<T>(as type: T.Type) -> T { unsafeDowncast(self, to: Box<T>.self).value }
}

// Sendable: constant; and a value that is not Sendable is opened only by the one caller it was
// made for, because everything that hands out shared objects asks for `T: Sendable`.
@usableFromInline
final class Box<T>: AnyBox, @unchecked Sendable {
  @usableFromInline let value: T

  @inlinable
  init(_ value: T) { self.value = value }

  // Asked of the dynamic type: `as? AnyObject` succeeds for every value, by boxing it.
  override var object: AnyObject? {
    type(of: value as Any) is AnyClass ? value as AnyObject : nil
  }

  // The type is asked first: a cast that fails is several times slower.
  override var injectable: (any Injectable)? {
    type(of: value as Any) is any Injectable.Type ? value as? any Injectable : nil
  }
}

/// A value as an entry keeps it.
enum Kept: Sendable {
  case strong(AnyBox)
  case weak(WeakReference, box: @Sendable (AnyObject) -> AnyBox?)

  /// The box; for a weak reference a new one, round an object that is still there.
  var box: AnyBox? {
    switch self {
    case .strong(let box): return box
    case .weak(let reference, let box):
      // Unwrapped first: the optimiser of Swift 6.3 breaks the cast of a nil reference.
      guard let object = reference.object else { return nil }
      return box(object)
    }
  }
}

// Sendable: only ever turned into a box again, and then see Box.
struct WeakReference: @unchecked Sendable {
  weak var object: AnyObject?
}
