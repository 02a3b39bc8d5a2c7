// SPDX-License-Identifier: Apache-2.0

import Synchronization

// To break a cycle, a construction may use the object of another construction that is not complete.
// If that one fails, its object is discarded, and so must be every object that refers to it. So an
// object is published together with all objects that it used, directly or indirectly, once all of
// them are complete. Until then other constructions receive it, and use it in the same way; lookups
// from outside wait. The container never discards an object that such a lookup returned.
//
// One lock covers every claim of an entry and its end. It serialises `set`, failures and
// publications of related objects.

/// The work after a change of frames. It runs without the lock, because it may call client code.
struct DeferredWork {
  var waiters: [Waiter] = []
  /// Objects to release: these may be the last references.
  var objects: [AnyObject?] = []
}

extension ConstructionFrame {
  /// Runs `change` under the lock; then wakes waiters and releases objects.
  static func changing<R: Sendable, E>(
    _ change: (inout DeferredWork) throws(E) -> R
  ) throws(E) -> R {
    var deferred = DeferredWork()
    defer { deferred.waiters.forEach { $0.wake() } }
    return try lock.withLock { _ throws(E) in try change(&deferred) }
  }

  /// Notes that the construction around this frame used the object of another one in progress.
  func use(_ other: ConstructionFrame) {
    guard let user = enclosingShared, user !== other,
      !user.uses.contains(where: { $0 === other })
    else { return }
    user.uses.append(other)
    other.users.append(user)
  }

  /// Claims an entry for a `set`, unless it is discarded. A construction loses its claim, and fails
  /// when it ends. Another `set` that only waits for other constructions loses it too.
  ///
  /// - Returns: another `set` in progress, which keeps its claim.
  func overtake(_ entry: RegistrationEntry) -> ConstructionFrame? {
    ConstructionFrame.changing { deferred in
      let other = entry.maker
      if let other, other.role == .setting, other.built == nil { return other }
      entry.owner.locked { _ in if !entry.isDiscarded { entry.maker = self } }
      guard let other, other.role == .shared else { return nil }
      other.isInvalid = true
      deferred.waiters += other.waiters
      other.waiters = []
      if other.built != nil { other.fail(&deferred) }
      return nil
    }
  }

  /// Ends the construction of a shared object.
  ///
  /// - Parameter object: the object to publish; nil if the construction failed.
  /// - Returns: whether the object is published. If not, it has to be made again, or waits for
  ///   others; the caller looks it up again.
  func end(_ object: AnyBox?) -> Bool {
    ConstructionFrame.changing { deferred in
      guard let object, !isInvalid else {
        fail(&deferred)
        return false
      }
      built = object
      if isComplete {
        publish(&deferred)
        return true
      }
      // Other constructions would deadlock if one of those that are used waits for them.
      let inside = waiters.filter { $0.frame?.enclosingShared != nil }
      waiters.removeAll { waiter in inside.contains { $0 === waiter } }
      inside.forEach(serve)
      deferred.waiters += inside
      return false
    }
  }

  /// Ends a construction that failed.
  func fail() { _ = end(nil) }

  /// Whether every object that it used, directly or indirectly, is complete.
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

  /// Publishes the object, the objects that it used, and the objects that used any of these, if
  /// they are complete.
  private func publish(_ deferred: inout DeferredWork) {
    var ready = [self]
    while let frame = ready.popLast() {
      guard !frame.isOver, frame.isComplete else { continue }
      ready += frame.uses + frame.users
      frame.leave(publishing: frame.built, &deferred)
    }
  }

  /// Discards the object, and the objects that used it.
  private func fail(_ deferred: inout DeferredWork) {
    var failing = [self]
    while let frame = failing.popLast() {
      guard !frame.isOver else { continue }
      for user in frame.users {
        user.isInvalid = true
        if user.built != nil { failing.append(user) }
      }
      frame.leave(publishing: nil, &deferred)
    }
  }

  private func leave(publishing object: AnyBox?, _ deferred: inout DeferredWork) {
    if let container = weakContainer, let entry {
      deferred.objects += [container, entry]
      deferred.objects += entry.conclude(self, publishing: object)
    }
    close()
    for user in users { user.uses.removeAll { $0 === self } }
    for used in uses { used.users.removeAll { $0 === self } }
    deferred.waiters += waiters
    deferred.objects += [early, built]
    (waiters, uses, users, early, built) = ([], [], [], nil, nil)
  }
}
