// SPDX-License-Identifier: Apache-2.0

/// An object that is completed after it is made.
public protocol Injectable: AnyObject {
  /// Called once all `@Injected` properties are filled and `then:` has run.
  func didInject()
}

extension Injectable {
  public func didInject() {}
}

/// A property that is filled late: by `inject(into:)`, by assignment, or when it is first read,
/// then from the container that was current when it was made. Not for `Sendable` classes.
@propertyWrapper
public struct Injected<Value> {
  private final class Slot {
    var value: Value?
    /// Where to look on first read.
    var container: Container?
  }

  private let slot = Slot()
  private let supply: (Container) throws -> Value

  /// A property with a value of its own, until another is assigned.
  public init(wrappedValue: Value) {
    slot.value = wrappedValue
    supply = { _ in wrappedValue }
  }

  /// A property for a key, or for its type.
  public init(_ key: Container.Key<Value> = Container.Key()) where Value: Sendable {
    self.init { try $0.get(key) }
  }

  /// A property that is nil when nothing is registered or set for the key.
  public init<T: Sendable>(_ key: Container.Key<T>) where Value == T? {
    self.init { try $0.find(key) }
  }

  private init(supply: @escaping (Container) throws -> Value) {
    slot.container = Container.current
    self.supply = supply
  }

  /// The value; the first read may make it, and traps as `inject()` does when that fails.
  public var wrappedValue: Value {
    get {
      if let value = slot.value { return value }
      let value = required { try supply(slot.container ?? .current) }
      (slot.value, slot.container) = (value, nil)
      return value
    }
    nonmutating set { (slot.value, slot.container) = (newValue, nil) }
  }
}

extension Container {
  /// Fills the `@Injected` properties of an object made elsewhere, then calls its `didInject()`.
  ///
  /// Properties that have a value keep it.
  /// - Throws: What `get` throws for one of them.
  public func inject(into object: some Injectable) throws {
    try fill(object)
    object.didInject()
  }

  func fill(_ object: any Injectable) throws {
    for mirror in sequence(first: Mirror(reflecting: object), next: \.superclassMirror) {
      for case let property as any Fillable in mirror.children.map(\.value) {
        try property.fill(from: self)
      }
    }
  }
}

private protocol Fillable {
  func fill(from container: Container) throws
}

extension Injected: Fillable {
  fileprivate func fill(from container: Container) throws {
    guard slot.value == nil else { return }
    (slot.value, slot.container) = (try supply(container), nil)
  }
}

/// The object for a key, from the container that is current: `let api = inject(.api)`.
///
/// For stored properties that have an initial value. Prefer arguments of the initialiser: they can
/// be validated. Traps with the text of the error, because an initial value cannot throw.
public func inject<T: Sendable>(_ key: Container.Key<T> = Container.Key()) -> T {
  required { try Container.current.get(key) }
}

/// The only place that traps.
private func required<T>(_ supply: () throws -> T) -> T {
  do {
    return try supply()
  } catch {
    fatalError("\(error)")
  }
}
