// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// A container that adds to this one, or replaces for itself what it registers again.
  ///
  /// - Parameters:
  ///   - fresh: False: shares what this one has made, as a session does. True: makes everything
  ///     anew that has a recipe, so that nothing keeps a replaced dependency, as a test needs it;
  ///     what was `set` is shared.
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
    Container(parent: inForce, isFresh: fresh)
  }

  /// The container that makes the current object, or that was made current; else `main`.
  public static var current: Container { Frame.current?.container ?? main }

  /// Makes this container `current` while `body` runs, in this task and those it starts.
  ///
  /// While a fresh child is current, the containers that it descends from answer as it does: that
  /// is how a test overrides what the code under test asks for. `Task.detached` does not see it.
  public func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
    try Frame.$current.withValue(entered(), operation: body)
  }

  /// Makes this container `current` while `body` runs, in this task and those it starts.
  public func asCurrent<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    try await Frame.$current.withValue(entered(), operation: body)
  }

  private func entered() -> Frame {
    for old in sequence(first: self, next: \.parent).drop(while: { !$0.isFresh }).dropFirst() {
      _ = old.locked { state in
        state.isStoodFor = true
        return state.change()
      }
    }
    return Frame(nil, self)
  }

  /// Who answers for this container in this task: itself, or the fresh child that is current.
  ///
  /// A factory sees only its own container, so that no shared object keeps what an override
  /// elsewhere put in force.
  var inForce: Container {
    var frame = locked { $0.isStoodFor } ? Frame.current : nil
    while let here = frame {
      let line = sequence(first: here.container, next: \.parent).prefix { $0 !== self }
      if let fresh = line.first(where: \.isFresh), line.last?.parent === self { return fresh }
      frame = here.entry == nil ? here.caller : nil
    }
    return self
  }
}
