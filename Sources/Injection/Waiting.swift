// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A wait for a frame.
// Sendable: `early` is written before `group.leave()` and read after the wait for it.
final class Waiter: @unchecked Sendable {
  let frame = Frame.live
  fileprivate let group = DispatchGroup()
  fileprivate var early: AnyBox?

  func wake() { group.leave() }

  /// Blocks the thread.
  ///
  /// - Returns: the early object if waiting for the published one would deadlock.
  func wait() -> AnyBox? {
    group.wait()
    return early
  }

  /// As `wait()`, suspending the task.
  func suspend() async -> AnyBox? {
    await withCheckedContinuation { task in group.notify(queue: .global()) { task.resume() } }
    return early
  }
}

extension Frame {
  private enum Joining: Sendable {
    case joined
    /// The caller must not wait.
    case busy
    /// A cycle, and the frame in it that could be made first.
    case circular([Frame], first: Frame?)
  }

  /// Registers a wait for this frame; nil if `mayWait` is false and the frame is in progress.
  ///
  /// - Throws: `circular` for a cycle in which no frame has an early object to break it with.
  func join(mayWait: Bool = true) throws(InjectionError) -> Waiter? {
    let waiter = Waiter()
    let joining = Frame.changing { leftovers -> Joining in
      while !isOver, built == nil, let cycle = waiter.frame?.waitPath(from: self) {
        if early != nil {
          serve(waiter)
          return .joined
        }
        guard let other = Frame.breakCycle(cycle) else {
          return .circular(cycle, first: Frame.wired(in: cycle))
        }
        leftovers.waiters.append(other)
      }
      if isOver { return .joined }
      if built != nil, waiter.frame?.shared != nil {
        serve(waiter)
        return .joined
      }
      guard mayWait || built != nil else { return .busy }
      waiter.group.enter()
      waiters.append(waiter)
      return .joined
    }
    switch joining {
    case .joined: return waiter
    case .busy: return nil
    case .circular(let cycle, let first):
      throw .circular(
        (cycle + [self]).compactMap(\.label), Frame.detour(cycle, first, waiter.frame))
    }
  }

  /// Gives a waiter the early object.
  func serve(_ waiter: Waiter) {
    waiter.early = early
    waiter.frame?.use(self)
  }

  /// The frames from `start` to this one, each waiting for the next; nil if there is no such path.
  private func waitPath(from start: Frame) -> [Frame]? {
    var visited: Set<ObjectIdentifier> = []
    func search(_ frame: Frame) -> [Frame]? {
      if frame === start { return [frame] }
      guard visited.insert(ObjectIdentifier(frame)).inserted else { return nil }
      for before in [frame.caller] + frame.waiters.map(\.frame) {
        if let way = before.flatMap(search) { return way + [frame] }
      }
      return nil
    }
    return search(self)
  }

  /// Breaks a cycle: gives one of its waiters the early object that it waits for.
  ///
  /// - Returns: the waiter, for the caller to wake.
  private static func breakCycle(_ cycle: [Frame]) -> Waiter? {
    for (before, frame) in zip(cycle, cycle.dropFirst()) where frame.early != nil {
      guard let index = frame.waiters.firstIndex(where: { $0.frame === before }) else { continue }
      let waiter = frame.waiters.remove(at: index)
      frame.serve(waiter)
      return waiter
    }
    return nil
  }

  private static func wired(in cycle: [Frame]) -> Frame? {
    cycle.first { $0.early != nil && $0.built == nil && $0.role == .making }
  }

  /// The object of a cycle to make first: its early object breaks the cycle for the others, which
  /// need it in their factories. Nil if there is none, or another of them is asynchronous.
  private static func detour(
    _ cycle: [Frame], _ wired: Frame?, _ asker: Frame?
  ) -> InjectionError.Pending? {
    guard let wired, let entry = wired.entry, let container = wired.container,
      let frame = cycle.first(where: { asker?.isWithin($0) ?? false }),
      cycle.allSatisfy({ $0 === wired || $0.entry?.recipe.makeLater == nil })
    else { return nil }
    return InjectionError.Pending(entry, in: container, for: frame)
  }

  /// The error of a frame's object that needs itself.
  ///
  /// - Parameter cycle: the frames from the outer construction of the object to the inner one.
  static func circular(_ cycle: [Frame]) -> InjectionError {
    let path = (cycle + cycle.prefix(1)).compactMap(\.label)
    let first = lock.withLock { _ in wired(in: cycle) }
    return .circular(path, detour(cycle, first, cycle.last))
  }
}

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
