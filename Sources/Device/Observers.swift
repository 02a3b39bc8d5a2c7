// SPDX-License-Identifier: Apache-2.0
//
// Who wants to hear of changes, and in which order they hear.
//
// Invariants
// - Change sets are delivered in the order of their commits, each whole, one at a time. `enqueue`
//   is called while the database is still ours; `deliver` after, without any lock.
// - An observer may write. Its change set joins the end of the queue, and whoever is delivering
//   delivers that one too.

import KeepsakeValues
import Synchronization

final class Observers: Sendable {
  typealias Handler = @Sendable ([Change]) -> Void

  private struct State {
    var handlers: [(id: Int, store: String?, handler: Handler)] = []
    var nextID = 0
    var pending: [[Change]] = []
    var isDelivering = false
  }

  private let state = Mutex(State())

  func add(store: String?, _ handler: @escaping Handler) -> Int {
    state.withLock {
      $0.nextID += 1
      $0.handlers.append(($0.nextID, store, handler))
      return $0.nextID
    }
  }

  func remove(_ id: Int) {
    state.withLock { $0.handlers.removeAll { $0.id == id } }
  }

  var isEmpty: Bool { state.withLock { $0.handlers.isEmpty } }

  func enqueue(_ changes: [Change]) {
    guard !changes.isEmpty else { return }
    state.withLock { if !$0.handlers.isEmpty { $0.pending.append(changes) } }
  }

  func deliver() {
    while let (changes, handlers) = takeNext() {
      for (store, handler) in handlers {
        let relevant = store.map { name in changes.filter { $0.store.isSameBytes(as: name) } }
        let set = relevant ?? changes
        if !set.isEmpty { handler(set) }
      }
      state.withLock { $0.isDelivering = false }
    }
  }

  private func takeNext() -> ([Change], [(String?, Handler)])? {
    state.withLock {
      guard !$0.isDelivering, !$0.pending.isEmpty else { return nil }
      $0.isDelivering = true
      return ($0.pending.removeFirst(), $0.handlers.map { ($0.store, $0.handler) })
    }
  }
}

extension String {
  /// Equal as SQLite compares: "é" is not "e" + U+0301.
  package func isSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// Keeps an observer alive; it ends with this object, or by `cancel()`.
public final class Observation: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }

  /// Ends the observation; a delivery that is under way may still arrive.
  public func cancel() { end() }
}
