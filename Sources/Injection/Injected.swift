// SPDX-License-Identifier: Apache-2.0

/// An object that is completed after it is made.
public protocol Injectable: AnyObject {
  /// Called once all `@Injected` properties are filled and `then:` has run; may be empty.
  ///
  /// It has no default, because a subclass could not override that: its own would never be called.
  func didInject()
}

/// A property that is filled late: by `inject(into:)`, by assignment, or when it is first read,
/// then from the container that was current when it was made. Not for `Sendable` classes.
@propertyWrapper
public struct Injected<Value> {
  private final class Slot {
    enum Content {
      /// Where to look on first read, and how.
      case container(Container, (Container) throws -> Value)
      case value(Value)
    }
    var content: Content

    init(_ content: Content) { self.content = content }
  }

  private let slot: Slot

  private init(_ supply: @escaping (Container) throws -> Value) {
    slot = Slot(.container(.current, supply))
  }

  /// A property with a value of its own, until another is assigned.
  public init(wrappedValue: Value) {
    slot = Slot(.value(wrappedValue))
  }

  /// A property for a key, or for its type.
  public init(_ key: Container.Key<Value> = Container.Key()) where Value: Sendable {
    self.init { try $0.get(key) }
  }

  /// A property that is nil when nothing is registered or set for the key.
  public init<T: Sendable>(_ key: Container.Key<T>) where Value == T? {
    self.init { try $0.find(key) }
  }

  /// The value; the first read may make it, and traps as `inject()` does when that fails.
  public var wrappedValue: Value {
    get {
      switch slot.content {
      case .value(let value): value
      case .container(let container, let supply): required { try filled(supply(container)) }
      }
    }
    nonmutating set { slot.content = .value(newValue) }
  }

  private func filled(_ value: Value) -> Value {
    slot.content = .value(value)
    return value
  }
}

/// An `@Injected` property of whatever type.
protocol Fillable {
  static var type: Any.Type { get }
  var content: Any? { get }
  func fill(from container: Container) throws
  /// How to assign `value`; nil when the property has another type.
  func assigning(_ value: Any) -> (() -> Void)?
}

extension Injected: Fillable {
  static var type: Any.Type { Value.self }
  var content: Any? { if case .value(let value) = slot.content { value } else { nil } }
  func fill(from container: Container) throws {
    if case .container(_, let supply) = slot.content { _ = filled(try supply(container)) }
  }
  func assigning(_ value: Any) -> (() -> Void)? {
    (value as? Value).map { value in { slot.content = .value(value) } }
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
    for case let (_, property as any Fillable) in Container.properties(of: object) {
      try property.fill(from: self)
    }
  }

  /// Stored properties, those of superclasses too; of an `@Injected` one the wrapper.
  static func properties(of object: Any) -> [(name: String, value: Any)] {
    sequence(first: Mirror(reflecting: object), next: \.superclassMirror).flatMap(\.children).map {
      (String(($0.label ?? "").trimmingPrefix("_")), $0.value)
    }
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
  do { return try supply() } catch { fatalError("\(error)") }
}
