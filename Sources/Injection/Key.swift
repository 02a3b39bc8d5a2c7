// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// What is asked for: a type, optionally a name, optionally a default recipe.
  ///
  /// Type and name together are the identity. Declare keys once, beside the type they stand for:
  /// `extension Container.Key where Value == any API { static var api: Self { Self("api") } }`.
  public struct Key<Value>: Sendable {
    @usableFromInline let target: Target

    /// A key for `Value`; without a name it stands for whatever is registered for the type.
    @inlinable
    public init(_ name: String? = nil) {
      target = Target(type: Value.self, name: name)
    }

    /// A key that can never be missing: `make` is used when nothing is registered for it.
    public init(
      _ name: String? = nil, scope: Scope = .singleton,
      default make: @escaping @Sendable (Container) throws -> sending Value
    ) {
      target = Target(type: Value.self, name: name) {
        Entry(Key(name), .now { Box(try make($0)) }, scope: scope)
      }
    }
  }

  /// How long a made object is kept, and by whom.
  public enum Scope: String, Sendable {
    /// One for the container, kept as long as the container.
    case singleton
    /// One for the container as long as somebody else keeps it.
    case weak
    /// A new one for everybody who asks.
    case transient
  }
}

/// A key whose type the engine does not know.
@usableFromInline
struct Target: Sendable {
  @usableFromInline let type: Any.Type
  @usableFromInline let name: String?
  /// The default recipe, for when nothing is registered.
  @usableFromInline let fallback: (@Sendable () -> Entry)?

  @inlinable
  init(type: Any.Type, name: String?, fallback: (@Sendable () -> Entry)? = nil) {
    (self.type, self.name, self.fallback) = (type, name, fallback)
  }

  var id: ObjectIdentifier { ObjectIdentifier(type) }
  var label: String { name.map { "\(type) \"\($0)\"" } ?? "\(type)" }

  /// How an optional type is met by what it wraps.
  var nillable: (type: any Nillable.Type, wrapped: Target)? {
    (type as? any Nillable.Type).map { ($0, Target(type: $0.wrapped, name: name)) }
  }
}

/// An optional asks for what it wraps, and is nil when that is not registered or not set.
protocol Nillable {
  static var wrapped: Any.Type { get }
  static func rebox(_ box: AnyBox?) -> AnyBox
}

extension Optional: Nillable {
  static var wrapped: Any.Type { Wrapped.self }
  static func rebox(_ box: AnyBox?) -> AnyBox { Box(box?.open(as: Wrapped.self)) }
}
