// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

// Who is making what for whom.
//
// A frame is one construction in progress, or one override in force. Frames form a list from the
// inside out; it is persistent and task-local, so the branches of an `async let` share their
// callers but never see each other: a diamond is not a cycle. A `Task {}` started inside a factory
// inherits the list although the factory does not wait for it, and is judged as if it did.
//
// Invariant of the wait graph: it has no loop. A construction is blocked by everything that it, or
// what it started, waits for. An edge that would close a loop is refused; check and insertion are
// under one lock, so of two threads that need each other the second is refused.

final class Frame: Sendable {
  @TaskLocal static var current: Frame?

  let entry: Entry?
  let container: Container
  let caller: Frame?

  init(_ entry: Entry?, _ container: Container) {
    (self.entry, self.container, self.caller) = (entry, container, Frame.current)
  }

  static var path: [String] { current?.path(from: nil) ?? [] }

  func isInside(_ other: Frame) -> Bool { first { $0 === other } != nil }

  func first(where matches: (Frame) -> Bool) -> Frame? {
    var frame: Frame? = self
    while let next = frame, !matches(next) { frame = next.caller }
    return frame
  }

  /// What is being made from `start` down to this frame, the outermost first.
  func path(from start: Frame?) -> [String] {
    let above = self === start ? [] : caller?.path(from: start) ?? []
    return above + (entry.map { [$0.label] } ?? [])
  }
}

enum Waits {
  private typealias Edge = (waiter: Frame, target: Frame)
  private static let edges = Mutex<[Edge]>([])

  /// Notes that `waiter` waits for `target`, or returns the path of the loop that would close.
  static func begin(_ waiter: Frame, _ target: Frame) -> [String]? {
    edges.withLock { edges in
      if let path = loop(from: target, to: waiter, via: [], edges) { return path }
      edges.append((waiter, target))
      return nil
    }
  }

  static func end(_ waiter: Frame, _ target: Frame) {
    edges.withLock { edges in
      let index = edges.firstIndex { $0.waiter === waiter && $0.target === target }
      if let index { edges.remove(at: index) }
    }
  }

  private static func loop(
    from target: Frame, to waiter: Frame, via trail: [String], _ edges: [Edge]
  ) -> [String]? {
    for edge in edges where edge.waiter.isInside(target) {
      let trail = trail + edge.waiter.path(from: target)
      if waiter.isInside(edge.target) {
        return waiter.path(from: edge.target) + trail + edge.target.path(from: edge.target)
      }
      if let path = loop(from: edge.target, to: waiter, via: trail, edges) { return path }
    }
    return nil
  }
}

/// Stops this thread until the closure that `arrange` is given is called.
func blockThread(_ arrange: (@escaping @Sendable () -> Void) -> Void) {
  let gate = DispatchSemaphore(value: 0)
  arrange { gate.signal() }
  gate.wait()
}
