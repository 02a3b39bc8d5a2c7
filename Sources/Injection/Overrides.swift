// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// A container that adds to this one, or replaces for itself what it registers again.
  ///
  /// - Parameters:
  ///   - fresh: False: shares what this one has made, as a session does. True: makes everything
  ///     anew that has a recipe, so that nothing keeps a replaced dependency, as a test needs it;
  ///     what was `set` is shared. Linear in the number of registrations.
  ///   - configure: Registers and sets what is different.
  public func child(
    fresh: Bool = false, _ configure: (Container) throws -> Void
  ) rethrows -> Container {
    let child = child(fresh: fresh)
    try configure(child)
    return child
  }

  /// A child with no registrations yet.
  public func child(fresh: Bool = false) -> Container {
    fresh
      ? Container(parent: renewed(), gate: Gate())
      : Container(parent: self, gate: gate)
  }

  private func renewed() -> Container {
    Container(parent: parent?.renewed(), gate: gate, backdrop: registrations.renewed())
  }

  /// Makes this container `current` while `body` runs, in this task and those it starts.
  public func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
    try Frame.$current.withValue(Frame(nil, self), operation: body)
  }

  /// Makes this container `current` while `body` runs, in this task and those it starts.
  public func asCurrent<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    try await Frame.$current.withValue(Frame(nil, self), operation: body)
  }

  /// Runs `body` with a fresh child of the current container, in which `overrides` hold.
  ///
  /// Only this task, and tasks it starts, see them; `Task.detached` does not.
  public static func withOverrides<R>(
    _ overrides: (Container) throws -> Void, perform body: () throws -> R
  ) rethrows -> R {
    try current.child(fresh: true, overrides).asCurrent(body)
  }

  /// Runs `body` with a fresh child of the current container, in which `overrides` hold.
  public static func withOverrides<R>(
    _ overrides: (Container) throws -> Void, isolation: isolated (any Actor)? = #isolation,
    perform body: () async throws -> R
  ) async rethrows -> R {
    try await current.child(fresh: true, overrides).asCurrent(body)
  }
}
