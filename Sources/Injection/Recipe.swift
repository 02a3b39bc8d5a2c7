// SPDX-License-Identifier: Apache-2.0

/// How an entry gets its value.
enum Recipe<T>: Sendable {
  case now(@Sendable (Container) throws -> sending T)
  case later(@Sendable (Container) async throws -> sending T)
  /// From outside, by `set`.
  case given
  case alias(Alias<T>)
}

/// Another entry under another key. `up` is written by the caller, so the compiler checks it.
struct Alias<T>: Sendable {
  let base: any AnyEntry
  let read: @Sendable (_ owner: Container, _ asker: Container, _ anew: Bool) throws -> T?
  let resolve: @Sendable (_ owner: Container, _ asker: Container) async throws -> T?
  let renewed: @Sendable (any AnyEntry) -> Alias<T>

  init<Base: Sendable>(_ base: Entry<Base>, _ up: @escaping @Sendable (Base) -> T) {
    self.base = base
    read = { try base.read($0, $1, anew: $2).map(up) }
    resolve = { try await base.resolve($0, $1).map(up) }
    // The downcast is sound: an entry is renewed by one of its own type.
    renewed = { Alias(unsafeDowncast($0, to: Entry<Base>.self), up) }
  }
}

/// One argument of a `using:` registration, for `validate()`.
struct Need: Sendable {
  let label: String
  let mayBeMissing: Bool
  let locate: @Sendable (Container) throws(InjectionError) -> (entry: any AnyEntry, owner: Container)?

  init<T>(_ key: Container.Key<T>) {
    label = key.label
    mayBeMissing = key.make != nil || T.self is any Nillable.Type
    locate = { (container) throws(InjectionError) in
      if let found = try container.locate(key) { return (found.entry, found.owner) }
      return try (T.self as? any Nillable.Type)?.locate(key.name, in: container)
    }
  }
}

/// An optional asks for what it wraps and is nil when that is not registered or not set.
protocol Nillable {
  static func locate(_ name: String?, in container: Container) throws(InjectionError)
    -> (entry: any AnyEntry, owner: Container)?
  static func supply(_ name: String?, from container: Container) throws -> Self
}

extension Optional: Nillable {
  static func locate(_ name: String?, in container: Container) throws(InjectionError)
    -> (entry: any AnyEntry, owner: Container)?
  {
    guard let found = try container.locate(Container.Key<Wrapped>(name)) else { return nil }
    return (found.entry, found.owner)
  }

  static func supply(_ name: String?, from container: Container) throws -> Self {
    try container.supply(Container.Key<Wrapped>(name))
  }
}
