// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// Identifies an object by its type and an optional name.
  ///
  /// Declare keys once, next to their type:
  /// `extension Container.Key where Value == any API { static var api: Self { Self("api") } }`.
  public struct Key<Value>: Sendable {
    @usableFromInline let target: Target

    /// A key for `Value`; without a name it matches every registration of the type.
    @inlinable public init(_ name: String? = nil) { target = Target(Value.self, name) }
  }

  /// The lifetime of objects.
  public enum Scope: String, Sendable {
    /// One object, kept as long as the container.
    case singleton
    /// One object, kept only as long as there are strong references outside the container.
    case weak
    /// A new object for each lookup.
    case transient
  }
}

/// A type-erased key.
@usableFromInline
struct Target: Hashable, Sendable {
  @usableFromInline let type: Any.Type
  @usableFromInline let name: String?

  @inlinable init(_ type: Any.Type, _ name: String? = nil) { (self.type, self.name) = (type, name) }

  var id: ObjectIdentifier { ObjectIdentifier(type) }
  var unnamed: Target { Target(type) }
  /// For an optional type: the key of the wrapped type with the same name.
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
