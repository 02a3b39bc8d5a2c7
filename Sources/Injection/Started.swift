// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// The singletons of a container that has started, as properties: a key's name is the name of its
  /// object, as in `app.settings.username`.
  ///
  /// Reading a property runs no recipe, so it needs no `try`. It traps with the error's text, as
  /// `inject()` does, for a key that is not registered, has no object because it is not set, or is
  /// not a singleton's, whose recipe could fail: `get` looks such objects up. `validate()` does not
  /// see what is read.
  @dynamicMemberLookup
  public struct Started: Sendable {
    let container: Container

    /// The object of a declared key. O(1); it traps as said above.
    public subscript<T: Sendable>(dynamicMember key: KeyPath<Key<T>.Type, Key<T>>) -> T {
      required { try container.kept(Key<T>.self[keyPath: key].target).open() }
    }
  }

  private func kept(_ target: Target) throws -> AnyBox {
    let entry = nearest(target) { $0.choice }
    if let entry, entry.origin.recipe.scope != .singleton, !isSet(entry), !isSet(entry.origin) {
      throw InjectionError(
        code: .notKept, path: Frame.path(to: target),
        cure: "Look it up by `try container.get()`, or register it as a singleton.")
    }
    return try demand(target)
  }
}
