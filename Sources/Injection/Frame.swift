// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

// Who is making what for whom, and who waits for it.
//
// A frame is one construction in progress, or one container made current. Frames form a list from
// the inside out; it is persistent and task-local, so the branches of an `async let` share their
// callers but never see each other: a diamond is not a cycle. A `Task {}` started by a factory
// inherits the list although the factory does not wait for it, and is judged as if it did until
// that construction is over.
//
// Invariant: nobody waits in a ring. A frame waits for those it called and for those it joined.
// Whether waiting would close a ring is decided, and the wait noted, under one lock; of threads
// that need each other the last one to ask learns it.

// Sendable: the links are read and written under the one lock.
final class Frame: @unchecked Sendable {
  /// Makes for one caller, makes for all, puts in place what comes from outside, or is current.
  enum Role { case passing, making, setting, standing }

  @TaskLocal static var current: Frame?

  let entry: Entry?
  let container: Container
  let caller: Frame?
  let role: Role
  private let over = Atomic(false)

  private static let lock = Mutex(())
  /// The object while it is wired: complete enough for those whose waiting would never end.
  private var early: AnyBox?
  private var waiters: [Waiter] = []
  /// Who took the early object; what they made falls with it.
  private var borrowers: [Frame] = []
  private let fallen = Atomic(false)

  init(_ role: Role, _ entry: Entry?, _ container: Container) {
    (self.role, self.entry, self.container) = (role, entry, container)
    caller = Frame.live
  }

  /// What is being made or set here and now; a task may have outlived the innermost.
  static var live: Frame? {
    current.flatMap { sequence(first: $0, next: \.caller).first { !$0.isOver } }
  }

  var isOver: Bool { over.load(ordering: .acquiring) }

  /// What it was made with never became complete.
  var hasFallen: Bool { fallen.load(ordering: .acquiring) }

  /// From the inside out, this one first.
  var chain: [Frame] { Array(sequence(first: self, next: \.caller)) }

  func isWithin(_ outer: Frame) -> Bool {
    sequence(first: self, next: \.caller).contains { $0 === outer }
  }

  static func path(to target: Target) -> [String] {
    (live?.chain ?? []).reversed().compactMap(\.entry?.label) + [target.label]
  }
}

// MARK: - Waiting

/// One who waits for a frame.
// Sendable: `early` is written before the group is left and read after that.
final class Waiter: @unchecked Sendable {
  fileprivate let frame = Frame.live
  fileprivate let group = DispatchGroup()
  fileprivate var early: AnyBox?

  fileprivate func wake() { group.leave() }

  /// Blocks the thread. The unfinished object, if waiting for a finished one would never end.
  func wait() -> AnyBox? {
    group.wait()
    return early
  }

  func suspend() async -> AnyBox? {
    await withCheckedContinuation { task in group.notify(queue: .global()) { task.resume() } }
    return early
  }
}

extension Frame {
  /// One who waits for this frame; nil when `mayWait` is false and it would have to.
  ///
  /// - Throws: `circular`, when nothing in the ring has an early object to break it with.
  func join(mayWait: Bool = true) throws(InjectionError) -> Waiter? {
    let waiter = Waiter()
    // Woken when the lock is free: then what they keep can go.
    var loosened: [Waiter] = []
    defer { loosened.forEach { $0.wake() } }
    return try Frame.lock.withLock { _ throws(InjectionError) in
      while !isOver, let ring = waiter.frame?.way(from: self) {
        if let early {
          borrowers += ring.dropFirst()
          waiter.early = early
          return waiter
        }
        guard let other = Frame.loosen(ring) else {
          let wired = ring.first { $0.early != nil }?.entry?.label
          throw .circular((ring + [self]).compactMap(\.entry?.label), wired)
        }
        loosened.append(other)
      }
      if isOver { return waiter }
      guard mayWait else { return nil }
      waiter.group.enter()
      waiters.append(waiter)
      return waiter
    }
  }

  /// The frames from `start` down to this one, each waiting for the next; nil when there is no way.
  private func way(from start: Frame) -> [Frame]? {
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

  /// Gives one in the ring the early object that it waits for; it is to be woken.
  private static func loosen(_ ring: [Frame]) -> Waiter? {
    for (before, frame) in zip(ring, ring.dropFirst()) where frame.early != nil {
      guard let index = frame.waiters.firstIndex(where: { $0.frame === before }) else { continue }
      frame.borrowers += ring.filter { $0 !== frame }
      let waiter = frame.waiters.remove(at: index)
      waiter.early = frame.early
      return waiter
    }
    return nil
  }

  func show(_ early: AnyBox) { Frame.lock.withLock { _ in self.early = early } }

  /// Lets those who wait look again.
  func dismissWaiters() {
    Frame.lock.withLock { _ in
      defer { waiters = [] }
      return waiters
    }.forEach { $0.wake() }
  }

  /// For a frame that nobody can join.
  func close() { over.store(true, ordering: .releasing) }

  /// Ends the construction. When it failed, so did what was made with its object.
  func end(failed: Bool) {
    let (waiting, fallen, object) = Frame.lock.withLock { _ in
      close()
      defer { (waiters, borrowers, early) = ([], [], nil) }
      return (waiters, failed ? borrowers : [], early)
    }
    withExtendedLifetime(object) {
      for frame in fallen where frame.role == .making {
        frame.fallen.store(true, ordering: .releasing)
        frame.entry?.drop()
      }
    }
    waiting.forEach { $0.wake() }
  }
}
