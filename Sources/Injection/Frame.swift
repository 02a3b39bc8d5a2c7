// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Who is making what for whom.
//
// A frame is one construction in progress, or one container made current. Frames form a list from
// the inside out; it is persistent and task-local, so the branches of an `async let` share their
// callers but never see each other: a diamond is not a cycle. A `Task {}` started inside a factory
// inherits the list although the factory does not wait for it, and is judged as if it did.

final class Frame: Sendable {
  @TaskLocal static var current: Frame?

  let entry: Entry?
  let container: Container
  let caller: Frame?

  init(_ entry: Entry?, _ container: Container) {
    (self.entry, self.container, caller) = (entry, container, Frame.current)
  }

  func first(where matches: (Frame) -> Bool) -> Frame? {
    sequence(first: self, next: \.caller).first(where: matches)
  }

  static func path(to target: Target) -> [String] {
    (current?.path(from: nil) ?? []) + [target.label]
  }

  /// What is being made from `start` down to this frame, the outermost first.
  func path(from start: Frame?) -> [String] {
    let above = self === start ? [] : caller?.path(from: start) ?? []
    return above + (entry.map { [$0.label] } ?? [])
  }
}

/// Which construction waits for which.
///
/// Invariant: there is no loop, where a construction waits for everything that it, or what it
/// started, waits for. An edge that would close one is refused; check and insertion are under one
/// lock, so of two threads that need each other the second is refused.
enum Waits {
  private typealias Edges = [ObjectIdentifier: (waiter: Frame, maker: Frame)]
  private static let edges = Mutex<Edges>([:])

  /// Notes that `waiter` waits for `maker`, or returns the path of the loop that would close.
  static func begin(_ waiter: Frame, for maker: Frame) -> [String]? {
    edges.withLock { edges in
      var visited: Set<ObjectIdentifier> = []
      if let path = loop(from: maker, to: waiter, edges, &visited) { return path }
      edges[ObjectIdentifier(waiter)] = (waiter, maker)
      return nil
    }
  }

  static func end(_ waiter: Frame) {
    _ = edges.withLock { $0.removeValue(forKey: ObjectIdentifier(waiter)) }
  }

  /// - Parameter visited: from where no loop was found; many ways may lead there.
  private static func loop(
    from maker: Frame, to waiter: Frame, _ edges: Edges, _ visited: inout Set<ObjectIdentifier>
  ) -> [String]? {
    if waiter.first(where: { $0 === maker }) != nil { return waiter.path(from: maker) }
    guard visited.insert(ObjectIdentifier(maker)).inserted else { return nil }
    for edge in edges.values where edge.waiter.first(where: { $0 === maker }) != nil {
      if let rest = loop(from: edge.maker, to: waiter, edges, &visited) {
        return edge.waiter.path(from: maker).dropLast() + rest
      }
    }
    return nil
  }
}
