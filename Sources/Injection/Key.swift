// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// What is asked for: a type, optionally a name, optionally a default recipe.
  ///
  /// Type and name together are the identity. Declare keys once, beside the type they stand for:
  /// `extension Container.Key where Value == any API { static var api: Self { Self("api") } }`.
  public struct Key<Value>: Sendable {
    let name: String?
    let scope: Scope
    let make: (@Sendable (Container) throws -> sending Value)?

    /// A key for `Value`; without a name it stands for whatever is registered for the type.
    public init(_ name: String? = nil) {
      self.init(name: name, scope: .singleton, make: nil)
    }

    /// A key that can never be missing: `make` is used when nothing is registered for it.
    public init(
      _ name: String? = nil, scope: Scope = .singleton,
      default make: @escaping @Sendable (Container) throws -> sending Value
    ) {
      self.init(name: name, scope: scope, make: make)
    }

    private init(
      name: String?, scope: Scope, make: (@Sendable (Container) throws -> sending Value)?
    ) {
      (self.name, self.scope, self.make) = (name, scope, make)
    }

    var label: String { name.map { "\(Value.self) \"\($0)\"" } ?? "\(Value.self)" }
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
