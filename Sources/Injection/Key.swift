// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// What is asked for: a type, optionally a name. Both together are the identity.
  ///
  /// Declare keys once, beside the type they stand for:
  /// `extension Container.Key where Value == any API { static var api: Self { Self("api") } }`.
  public struct Key<Value>: Sendable {
    @usableFromInline let target: Target

    /// A key for `Value`; without a name it stands for whatever is registered for the type.
    @inlinable public init(_ name: String? = nil) { target = Target(Value.self, name) }
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
struct Target: Hashable, Sendable {
  @usableFromInline let type: Any.Type
  @usableFromInline let name: String?

  @inlinable init(_ type: Any.Type, _ name: String? = nil) { (self.type, self.name) = (type, name) }

  var id: ObjectIdentifier { ObjectIdentifier(type) }
  var unnamed: Target { Target(type) }
  /// What an optional type wraps, under the same name.
  var wrapped: (type: any Nillable.Type, target: Target)? {
    (type as? any Nillable.Type).map { ($0, Target($0.wrapped, name)) }
  }
  var label: String { name.map { "\(type) \"\($0)\"" } ?? "\(type)" }

  @usableFromInline static func == (one: Target, other: Target) -> Bool {
    one.type == other.type && one.name == other.name
  }

  @usableFromInline func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(name)
  }
}
