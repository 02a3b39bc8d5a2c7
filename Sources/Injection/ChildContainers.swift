// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// A container that inherits this one's registrations, and may add or replace some.
  ///
  /// - Parameters:
  ///   - fresh: False shares the objects of this container and its parents, as a session needs.
  ///     True copies the current registrations without their objects, as a test needs, so that no
  ///     object refers to a replaced dependency; it shares only objects that are `set`. Linear in
  ///     the number of registrations.
  ///   - configure: registers and sets the differences.
  public func child(
    fresh: Bool = false, _ configure: (Container) throws -> Void
  ) rethrows -> Container {
    let child = child(fresh: fresh)
    try configure(child)
    return child
  }

  /// A child without registrations of its own; see `child(fresh:_:)`.
  public func child(fresh: Bool = false) -> Container {
    fresh ? copied() : Container(parent: self)
  }

  /// The container whose recipe runs, or that `asCurrent` set; otherwise `main`.
  ///
  /// If a recipe started this task and its container is released, the next container outwards; if
  /// there is none, an empty container.
  public static var current: Container {
    guard let frame = ConstructionFrame.current else { return main }
    // Not `main`, which in a test would be the application's.
    return frame.chain.lazy.compactMap(\.container).first { _ in true } ?? Container()
  }

  /// Makes this container `current` while `body` runs, in this task and its child tasks.
  ///
  /// A test replaces dependencies of code that uses `current` with a fresh child of `current`.
  /// `Task.detached`, and code that holds another container, do not see it. A `Task` started in
  /// `body` keeps the container alive while it runs.
  public func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
    let frame = ConstructionFrame(.context, of: nil, in: self)
    defer { frame.close() }
    return try ConstructionFrame.$current.withValue(frame, operation: body)
  }

  /// Makes this container `current` while `body` runs, in this task and its child tasks.
  public func asCurrent<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    let frame = ConstructionFrame(.context, of: nil, in: self)
    defer { frame.close() }
    return try await ConstructionFrame.$current.withValue(frame, operation: body)
  }
}
