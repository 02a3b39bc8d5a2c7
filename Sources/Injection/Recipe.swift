// SPDX-License-Identifier: Apache-2.0

/// The parameters of a registration.
@usableFromInline
struct Recipe: Sendable {
  var target: Target
  var scope = Container.Scope.singleton
  var isPrimary = false
  /// The declared arguments of a `using:` registration.
  var needs: [Target] = []
  var then: (@Sendable (AnyBox, Container) throws -> Void)?
  var makeLater: (@Sendable (Container) async throws -> AnyBox)?
  var make: (@Sendable (Container) throws -> AnyBox)?
  /// For an alias: converts the base's object to this key's type.
  var convert: (@Sendable (AnyBox) -> AnyBox)?
  /// For a copy in a fresh child, and for what a copy registers.
  var origin: CopyOrigin?

  /// Whether there is no recipe: only `set` provides the object.
  var isGiven: Bool { make == nil && makeLater == nil && convert == nil }
}
