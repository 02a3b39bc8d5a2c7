// SPDX-License-Identifier: Apache-2.0

// Two objects need each other, one in its factory, the other in `then:`. From the second on this
// works: its early object serves the first. From the first on it cannot, for the first does not
// exist yet when `then:` asks for it; so both constructions fail, the second is made first, and
// then the first again. This way it does not matter which is asked for, or registered, first.

/// What a construction has made first, each once.
struct Detours {
  private var taken: Set<ObjectIdentifier> = []

  /// Makes the object whose early construction would have kept a construction from failing.
  ///
  /// - Throws: `error` if there is none, or it did not help; or the error of making it.
  mutating func take(_ error: any Error, at frame: Frame) throws {
    guard var circular = error as? InjectionError, let first = circular.pending,
      first.frame === frame, let entry = first.entry, let container = first.container
    else { throw error }
    circular.pending = nil
    guard taken.insert(ObjectIdentifier(entry)).inserted else { throw circular }
    _ = try entry.read(for: container)
  }
}
