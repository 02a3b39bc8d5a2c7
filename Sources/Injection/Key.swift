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
