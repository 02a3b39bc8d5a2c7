// SPDX-License-Identifier: Apache-2.0

import Synchronization

// A construction may use the object of another one that is not complete, to break a cycle. If that
// one fails, its object is discarded, and so must be every object that refers to it. So an object
// is published together with those that it used, at first or second hand, once all of them are
// complete. Until then other constructions get it, and use it in the same way; lookups from outside
// wait. No object that they have returned is discarded.
//
// One lock covers every claim of an entry and its end, so that a `set`, a failure and a publication
// of related objects come one after the other.

/// The work after a change of frames. It runs without the lock, because it may call client code.
struct Leftovers {
  var waiters: [Waiter] = []
  private var objects: [AnyObject?] = []

  /// Keeps what may be the last references until the lock is free.
  mutating func keep(_ objects: [AnyObject?]) { self.objects += objects }
}

extension Frame {
  /// Runs `change` under the lock; then wakes waiters and releases objects.
  static func changing<R: Sendable>(_ change: (inout Leftovers) -> R) -> R {
    var leftovers = Leftovers()
    defer { leftovers.waiters.forEach { $0.wake() } }
    return lock.withLock { _ in change(&leftovers) }
  }

  func publish(early: AnyBox) { Frame.lock.withLock { _ in self.early = early } }

  /// Notes that the construction around this frame used the object of another one in progress.
  func use(_ other: Frame) {
    guard let user = shared, user !== other, !user.uses.contains(where: { $0 === other }) else {
      return
    }
    user.uses.append(other)
    other.users.append(user)
  }

  /// Claims an entry for a `set`, unless it is discarded. A construction loses its claim, and fails
  /// when it ends; another `set` that only waits for others loses it too.
  ///
  /// - Returns: another `set` in progress, which keeps its claim.
  func overtake(_ entry: Entry) -> Frame? {
    Frame.changing { leftovers in
      let other = entry.maker
      if let other, other.role == .setting, other.built == nil { return other }
      entry.owner.locked { _ in if !entry.isDiscarded { entry.maker = self } }
      guard let other, other.role == .making else { return nil }
      other.isInvalid = true
      leftovers.waiters += other.waiters
      other.waiters = []
      if other.built != nil { other.fail(&leftovers) }
      return nil
    }
  }

  /// Ends the construction of a shared object.
  ///
  /// - Parameter object: what to publish; nil if the construction failed.
  /// - Returns: whether the object is published. Otherwise it has to be made again, or waits for
  ///   others: the caller asks for it once more.
  func end(_ object: AnyBox?) -> Bool {
    Frame.changing { leftovers in
      guard let object, !isInvalid else {
        fail(&leftovers)
        return false
      }
      built = object
      if isComplete {
        publish(&leftovers)
        return true
      }
      // Other constructions would deadlock if one of those that are used waits for them.
      let inside = waiters.filter { $0.frame?.shared != nil }
      waiters.removeAll { waiter in inside.contains { $0 === waiter } }
      inside.forEach(serve)
      leftovers.waiters += inside
      return false
    }
  }

  /// Whether every object that it used is complete, and every one that these used.
  private var isComplete: Bool {
    var reached = [self]
    var index = 0
    while index < reached.count {
      guard reached[index].built != nil else { return false }
      for used in reached[index].uses where !reached.contains(where: { $0 === used }) {
        reached.append(used)
      }
      index += 1
    }
    return true
  }

  /// Publishes the object, those that it used, and those that used them, as far as these are
  /// complete.
  private func publish(_ leftovers: inout Leftovers) {
    var ready = [self]
    while let frame = ready.popLast() {
      guard !frame.isOver, frame.isComplete else { continue }
      ready += frame.uses + frame.users
      frame.leave(publishing: frame.built, &leftovers)
    }
  }

  /// Discards the object, and those that used it.
  private func fail(_ leftovers: inout Leftovers) {
    var failing = [self]
    while let frame = failing.popLast() {
      guard !frame.isOver else { continue }
      for user in frame.users {
        user.isInvalid = true
        if user.built != nil { failing.append(user) }
      }
      frame.leave(publishing: nil, &leftovers)
    }
  }

  private func leave(publishing object: AnyBox?, _ leftovers: inout Leftovers) {
    if let container = weakContainer, let entry {
      leftovers.keep([container, entry])
      leftovers.keep(entry.conclude(self, object))
    }
    close()
    for user in users { user.uses.removeAll { $0 === self } }
    for used in uses { used.users.removeAll { $0 === self } }
    leftovers.waiters += waiters
    leftovers.keep([early, built])
    (waiters, uses, users, early, built) = ([], [], [], nil, nil)
  }
}
