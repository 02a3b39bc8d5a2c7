// SPDX-License-Identifier: Apache-2.0

/// A property that is filled after the initialiser: by `inject(into:)`, by assignment, or by its
/// first read, then from the container that was current when the property was created.
///
/// For classes that are not `Sendable`: copies of a structure would share the value.
@propertyWrapper
public struct Injected<Value> {
  private final class Slot {
    enum Content {
      /// The container and the lookup for the first read.
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

  /// A property with an initial value.
  public init(wrappedValue: Value) {
    slot = Slot(.value(wrappedValue))
  }

  /// A property for a key, by default that of its type.
  public init(_ key: Container.Key<Value> = Container.Key()) where Value: Sendable {
    self.init { try $0.get(key) }
  }

  /// A property that is nil if the key is not registered or not set.
  public init<T: Sendable>(_ key: Container.Key<T>) where Value == T? {
    self.init { try $0.find(key) }
  }

  /// The value. The first read may make it, and traps if that fails, as `inject()` does.
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

/// An `@Injected` property of any type.
protocol AnyInjected {
  static var type: Any.Type { get }
  var content: Any? { get }
  func fill(from container: Container) throws
  /// A closure that assigns `value`; nil if the property has another type.
  func assigning(_ value: Any) -> (() -> Void)?
}

extension Injected: AnyInjected {
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
  /// Fills the `@Injected` properties of an object from outside, then calls its `didInject()`.
  ///
  /// Properties that have a value keep it.
  ///
  /// - Throws: the error of `get` for a property; `InjectionError` with `hidden` if reflection does
  ///   not show the properties.
  public func inject(into object: some Injectable) throws {
    try fill(object)
    object.didInject()
  }

  func fill(_ object: any Injectable) throws {
    for case let (_, property as any AnyInjected) in try Container.properties(of: object) {
      try property.fill(from: self)
    }
  }

  /// Whether an object that need not be `Injectable` has `@Injected` properties.
  static func hasInjected(_ object: Any) -> Bool {
    sequence(first: Mirror(reflecting: object), next: \.superclassMirror)
      .contains { $0.children.contains { $0.value is any AnyInjected } }
  }

  /// The stored properties, including those of superclasses; for an `@Injected` one the wrapper.
  ///
  /// - Parameter mustBeNamed: whether a property without a name is an error.
  static func properties(
    of object: any Injectable, mustBeNamed: Bool = false
  ) throws(InjectionError) -> [(name: String, value: Any)] {
    func hidden(_ cure: String? = nil) -> InjectionError {
      let key = AnyKey(type(of: object))
      return InjectionError(.hidden, path: ConstructionFrame.path(to: key), cure: cure)
    }
    if object is any CustomReflectable { throw hidden() }
    let levels = Array(sequence(first: Mirror(reflecting: object), next: \.superclassMirror))
    if let level = levels.first(where: \.lacksMetadata) {
      throw hidden("Compile \(level.subjectType) \(Mirror.compilation).")
    }
    let properties = levels.flatMap(\.children).map {
      (name: String(($0.label ?? "").trimmingPrefix("_")), value: $0.value)
    }
    if mustBeNamed, properties.contains(where: \.name.isEmpty) {
      throw hidden(
        "Compile \(type(of: object)) with their names: without -disable-reflection-names.")
    }
    return properties
  }
}

/// The object for a key from the current container: `let api = inject(.api)`.
///
/// For initial values of stored properties. Prefer arguments of the initialiser, which `validate()`
/// can check. Traps with the error's text, because an initial value cannot throw.
public func inject<T: Sendable>(_ key: Container.Key<T> = Container.Key()) -> T {
  required { try Container.current.get(key) }
}

/// The only function that traps.
func required<T>(_ supply: () throws -> T) -> T {
  do { return try supply() } catch { fatalError("\(error)") }
}
