// SPDX-License-Identifier: Apache-2.0
//
// Delivers change sets to observers.
//
// Invariants
// - Change sets are delivered in the order of their commits, each whole, one at a time. `enqueue`
//   is called while the database is still ours; `deliver` after, without any lock.
// - An observer gets what was committed after it was added, and nothing from before.
// - The thread that commits delivers: when a write returns, its observers have been notified. Only
//   while another thread is delivering, that one delivers this set too, because waiting for an
//   observer may be a deadlock.
// - An observer may write. Its change set joins the end of the queue, and the thread that is
//   delivering delivers it too.

import KeepsakeValues
import Synchronization

struct Observer: Sendable {
  /// Nil for every commit, whatever it changed; then `handler` gets no changes.
  let scope: Scope?
  let handler: @Sendable ([SettingChange]) -> Void
  /// Gets the reason why changes of other processes could not be read.
  let onFailure: @Sendable (KeepsakeError) -> Void
}

final class Observers: Sendable {
  private struct ChangeSet {
    let changes: [SettingChange]
    /// The observers that get it; nil for all that existed then.
    let listeners: Set<Int>?
    /// Whether another process has made it, so that no thread here is about to deliver it.
    let isForeign: Bool
    /// Observers from this one on came later.
    let end: Int

    func isFor(_ id: Int) -> Bool { id < end && listeners?.contains(id) ?? true }
  }

  private struct State {
    /// By their numbers.
    var observers: [Int: Observer] = [:]
    var scopes = ScopeIndex()
    var nextID = 0
    var pending: [ChangeSet] = []
    /// Whether a thread delivers a change set now.
    var isDelivering = false
    /// Whether another thread has left its delivery to the one that was delivering.
    var isHandedOver = false

    /// Whether an observer gets every commit, or any of the changes.
    func isHeard(_ changes: [SettingChange], isCommit: Bool) -> Bool {
      isCommit && scopes.hasEveryCommit || !changes.isEmpty && !observers.isEmpty
    }

    /// The observers that may get some of the changes, in the order of their numbers. O(changes) or
    /// O(observers), whichever are fewer.
    func listeners(to changes: [SettingChange]) -> [(id: Int, observer: Observer)] {
      let ids = observers.count > changes.count ? scopes.ids(for: changes) : observers.keys.sorted()
      return ids.compactMap { id in observers[id].map { (id: id, observer: $0) } }
    }
  }

  private let state = Mutex(State())
  /// How many change sets no thread has begun to deliver.
  private let pendingCount = Atomic(0)

  /// Whether `deliver` may have anything to do: all that was enqueued before, as this thread knows,
  /// is counted.
  var havePending: Bool { pendingCount.load(ordering: .acquiring) > 0 }

  func add(_ observer: Observer) -> Int {
    state.withLock { state in
      defer { state.nextID += 1 }
      state.observers[state.nextID] = observer
      state.scopes.add(state.nextID, observer.scope)
      return state.nextID
    }
  }

  /// - Returns: the observer, unless it had been removed already.
  func remove(_ id: Int) -> Observer? {
    state.withLock { state in
      guard let observer = state.observers.removeValue(forKey: id) else { return nil }
      state.scopes.remove(id, observer.scope)
      return observer
    }
  }

  /// Whether an observer has not been removed: one that is called before it may do that.
  private func isPresent(_ id: Int) -> Bool { state.withLock { $0.observers[id] != nil } }

  /// Whether there are any, and what those that are added from now on come after.
  var presence: (isObserved: Bool, end: Int) {
    state.withLock { (!$0.observers.isEmpty, $0.nextID) }
  }

  var isEmpty: Bool { !presence.isObserved }

  /// Whether any observer gets changes, not commits alone.
  var wantChanges: Bool {
    state.withLock { $0.observers.values.contains { $0.scope != nil } }
  }

  /// Observers that are added from now on come after this.
  var end: Int { presence.end }

  /// - Parameters:
  ///   - listeners: nil for all that are there now.
  ///   - isForeign: whether another process has made the changes.
  ///   - end: observers from this one on do not get it; nil for those that are added from now on.
  ///   - isCommit: whether anything was committed, also when no value has changed.
  func enqueue(
    _ changes: [SettingChange], for listeners: Set<Int>? = nil, isForeign: Bool = false,
    end: Int? = nil, isCommit: Bool = false
  ) {
    state.withLock {
      guard $0.isHeard(changes, isCommit: isCommit) else { return }
      $0.pending.append(
        ChangeSet(
          changes: changes, listeners: listeners, isForeign: isForeign, end: end ?? $0.nextID))
      pendingCount.store($0.pending.count, ordering: .releasing)
    }
  }

  func report(_ error: KeepsakeError) {
    let observers = state.withLock { $0.observers.sorted { $0.key < $1.key } }
    for (_, observer) in observers { observer.onFailure(error) }
  }

  /// - Parameter isForeign: only what other processes have made, up to the first that is ours.
  func deliver(isForeign: Bool = false) {
    var hasDelivered = false
    while let (set, observers) = takeNext(isForeign, hasDelivered: hasDelivered) {
      hasDelivered = true
      for (id, observer) in observers where set.isFor(id) && isPresent(id) {
        guard let scope = observer.scope else {
          observer.handler([])
          continue
        }
        let relevant = set.changes.filter(scope.contains)
        if !relevant.isEmpty { observer.handler(relevant) }
      }
    }
  }

  /// - Parameter hasDelivered: whether this thread has delivered what was taken last.
  private func takeNext(
    _ isForeign: Bool, hasDelivered: Bool
  ) -> (ChangeSet, [(id: Int, observer: Observer)])? {
    state.withLock { state in
      if hasDelivered { state.isDelivering = false }
      guard let next = state.pending.first else {
        state.isHandedOver = false
        return nil
      }
      guard !state.isDelivering else {
        state.isHandedOver = true
        return nil
      }
      guard next.isForeign || !isForeign || state.isHandedOver else { return nil }
      let set = state.pending.removeFirst()
      state.isDelivering = true
      pendingCount.store(state.pending.count, ordering: .releasing)
      return (set, state.listeners(to: set.changes))
    }
  }
}

/// Keeps an observer alive; it ends with this object, or by `cancel()`.
// Not `Observation`: what Swift's macro `@Observable` expands to looks in the module of that name.
public final class ObservationToken: Sendable {
  /// Nil when it has been called: it holds what is observed.
  private let end: Mutex<(@Sendable () -> Void)?>

  package init(_ end: @escaping @Sendable () -> Void) {
    self.end = Mutex(end)
  }

  deinit { cancel() }

  /// Ends the observation; a delivery that is under way may still arrive.
  public func cancel() {
    let end = self.end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}
