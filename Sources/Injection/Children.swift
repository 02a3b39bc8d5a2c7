// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// A container that adds to this one, or replaces for itself what it registers again.
  ///
  /// - Parameters:
  ///   - fresh: False: shares what this one and its parents make, as a session does. True: a copy
  ///     of the registrations as they are now, with nothing made, so that nothing keeps a replaced
  ///     dependency, as a test needs it; what is `set` now is shared. Linear in the registrations.
  ///   - configure: Registers and sets what is different.
  public func child(
    fresh: Bool = false, _ configure: (Container) throws -> Void
  ) rethrows -> Container {
    let child = child(fresh: fresh)
    try configure(child)
    return child
  }

  /// A child with nothing of its own yet.
  public func child(fresh: Bool = false) -> Container {
    if !fresh { return Container(parent: self) }
    let originals = Array(sequence(first: self, next: \.parent))
    let copy = originals.reduce(nil) { parent, _ in Container(parent: parent) }
    let child = Container(parent: copy)
    for (copy, original) in zip(sequence(first: child, next: \.parent).dropFirst(), originals) {
      copy.adopt(original, for: child)
    }
    return child
  }

  private func adopt(_ original: Container, for site: Container) {
    var copies: [ObjectIdentifier: Entry] = [:]
    for entry in original.locked({ $0.entries }) {
      let base = entry.base.flatMap { copies[ObjectIdentifier($0)] }
      let copy = locked { $0.add(entry.recipe, to: self, for: site, base: base) }
      copy.adopt(entry)
      copies[ObjectIdentifier(entry)] = copy
    }
  }

  /// The container that makes the current object, or that was made current; else `main`.
  public static var current: Container { Frame.current?.container ?? main }

  /// Makes this container `current` while `body` runs, in this task and those it starts.
  ///
  /// With a fresh child of `current` that is how a test overrides what the code under test asks
  /// `current` for. `Task.detached`, and code that holds a container of its own, do not see it.
  public func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
    let frame = Frame(.standing, nil, self)
    defer { frame.close() }
    return try Frame.$current.withValue(frame, operation: body)
  }

  /// Makes this container `current` while `body` runs, in this task and those it starts.
  public func asCurrent<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    let frame = Frame(.standing, nil, self)
    defer { frame.close() }
    return try await Frame.$current.withValue(frame, operation: body)
  }
}
