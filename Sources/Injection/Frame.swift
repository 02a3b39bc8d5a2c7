// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

// Tracks constructions, their callers and their waiters, to detect cycles and deadlocks.
//
// A frame is one construction in progress, or one container made current. Frames form a list from
// the innermost outwards; it is persistent and task-local, so the branches of an `async let` share
// their callers but do not see each other: a diamond is not a cycle. A `Task {}` started by a
// factory inherits the list; until the construction ends it counts as part of the factory, although
// that does not wait for it. Such a task may run as long as the process, so a construction's frame
// has only weak references to its container and its entry, which its thread keeps.
//
// Invariant: the wait graph has no cycle. A frame waits for the frames that it called and those
// that it joined. One lock covers the check for a cycle and the recording of the wait, so of
// threads that need each other the last one to join detects the cycle.

// Sendable: one lock protects the links.
final class Frame: @unchecked Sendable {
  /// Making an unshared object, making a shared one, setting one from outside, or being current.
  enum Role { case passing, making, setting, standing }

  @TaskLocal static var current: Frame?

  let target: Target?
  private(set) weak var entry: Entry?
  private(set) weak var container: Container?
  /// The container that is current, which its tasks may need longer than the frame is open.
  private let standing: Container?
  let caller: Frame?
  let role: Role
  private let over = Atomic(false)

  private static let lock = Mutex(())
  /// The object during its wiring, for frames that would deadlock waiting for the complete one.
  private var early: AnyBox?
  private var waiters: [Waiter] = []
  /// The frames that used the early object; if this construction fails, theirs do too.
  private var borrowers: [Frame] = []
  private let invalid = Atomic(false)

  init(_ role: Role, _ entry: Entry?, _ container: Container) {
    (self.role, self.entry, self.container) = (role, entry, container)
    target = entry?.recipe.target
    standing = role == .standing ? container : nil
    caller = Frame.live
  }

  /// The innermost frame in progress; a task may have outlived frames within it.
  static var live: Frame? {
    current.flatMap { sequence(first: $0, next: \.caller).first { !$0.isOver } }
  }

  var label: String? { target?.label }
  var isOver: Bool { over.load(ordering: .acquiring) }

  /// Whether it used an early object whose construction failed.
  var isInvalid: Bool { invalid.load(ordering: .acquiring) }

  /// The innermost construction in progress.
  static var construction: Frame? {
    current.flatMap {
      sequence(first: $0, next: \.caller).first { $0.role != .standing && !$0.isOver }
    }
  }

  /// From this frame outwards.
  var chain: [Frame] { Array(sequence(first: self, next: \.caller)) }

  func isWithin(_ outer: Frame) -> Bool {
    sequence(first: self, next: \.caller).contains { $0 === outer }
  }

  static func path(to target: Target) -> [String] {
    (live?.chain ?? []).reversed().compactMap(\.label) + [target.label]
  }
}

// MARK: - Waiting

/// A wait for a frame.
// Sendable: `early` is written before `group.leave()` and read after the wait for it.
final class Waiter: @unchecked Sendable {
  fileprivate let frame = Frame.live
  fileprivate let group = DispatchGroup()
  fileprivate var early: AnyBox?

  fileprivate func wake() { group.leave() }

  /// Blocks the thread.
  ///
  /// - Returns: the early object if waiting for the complete one would deadlock.
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
  /// Registers a wait for this frame; nil if `mayWait` is false and the frame is in progress.
  ///
  /// - Throws: `circular` for a cycle in which no frame has an early object to break it with.
  func join(mayWait: Bool = true) throws(InjectionError) -> Waiter? {
    let waiter = Waiter()
    // Woken without the lock, because waiters may release objects.
    var woken: [Waiter] = []
    defer { woken.forEach { $0.wake() } }
    return try Frame.lock.withLock { _ throws(InjectionError) in
      while !isOver, let cycle = waiter.frame?.waitPath(from: self) {
        if let early {
          borrowers += cycle.dropFirst()
          waiter.early = early
          return waiter
        }
        guard let other = Frame.breakCycle(cycle) else {
          throw .circular(
            (cycle + [self]).compactMap(\.label), Frame.detour(cycle, waiter.frame))
        }
        woken.append(other)
      }
      if isOver { return waiter }
      guard mayWait else { return nil }
      waiter.group.enter()
      waiters.append(waiter)
      return waiter
    }
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
      frame.borrowers += cycle.filter { $0 !== frame }
      let waiter = frame.waiters.remove(at: index)
      waiter.early = frame.early
      return waiter
    }
    return nil
  }

  /// The object of a cycle to make first: its early object breaks the cycle for the others, which
  /// need it in their factories. Nil if there is none, or another of them is asynchronous.
  private static func detour(_ cycle: [Frame], _ asker: Frame?) -> InjectionError.Pending? {
    guard let wired = cycle.first(where: { $0.early != nil && $0.role == .making }),
      let entry = wired.entry, let container = wired.container, let frame = cycle.first(where: { asker?.isWithin($0) ?? false }),
      cycle.allSatisfy({ $0 === wired || $0.entry?.recipe.makeLater == nil })
    else { return nil }
    return InjectionError.Pending(entry, in: container, for: frame)
  }

  /// The error of a frame's object that needs itself.
  ///
  /// - Parameter cycle: the frames from the outer construction of the object to the inner one.
  static func circular(_ cycle: [Frame]) -> InjectionError {
    let path = (cycle + cycle.prefix(1)).compactMap(\.label)
    return lock.withLock { _ in .circular(path, detour(cycle, cycle.last)) }
  }

  func publish(early: AnyBox) { Frame.lock.withLock { _ in self.early = early } }

  /// Wakes the waiters, which then retry.
  func dismissWaiters() {
    Frame.lock.withLock { _ in
      defer { waiters = [] }
      return waiters
    }.forEach { $0.wake() }
  }

  /// Ends a frame without waiters.
  func close() { over.store(true, ordering: .releasing) }

  /// Ends the construction and wakes the waiters. A failure extends to the borrowers.
  func end(failed: Bool) {
    let (waiting, invalid, object) = Frame.lock.withLock { _ in
      close()
      defer { (waiters, borrowers, early) = ([], [], nil) }
      return (waiters, failed ? borrowers : [], early)
    }
    withExtendedLifetime(object) {
      for frame in invalid where frame.role == .making {
        frame.invalid.store(true, ordering: .releasing)
        guard let container = frame.container else { continue }
        withExtendedLifetime(container) { frame.entry?.drop() }
      }
    }
    waiting.forEach { $0.wake() }
  }
}
