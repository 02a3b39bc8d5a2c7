// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// An observer of a store, wherever the store is, and what it has still to receive.
struct PlacedObserver: Sendable {
  /// Nil for every commit, whatever it changed.
  let keys: KeyFilter?
  /// Runs without a lock when there may be something unread.
  let wake: @Sendable () -> Void
  /// On the device that the store is on; nil until it is made.
  var observation: StoreObservation?
  /// Of the last change set that came in from that device; nil for none.
  var number: Int?
  var unread = ChangeQueue()
  /// Whether a thread takes from `unread` until it is empty.
  private var isCalled = false

  init(keys: KeyFilter?, wake: @escaping @Sendable () -> Void) {
    (self.keys, self.wake) = (keys, wake)
  }

  /// - Parameter isCaller: whether this thread took the change set before.
  /// - Returns: nil also when another thread takes them.
  mutating func next(isCaller: Bool) -> [SettingChange]? {
    guard isCaller || !isCalled else { return nil }
    let changes = unread.popFirst()
    isCalled = changes != nil
    return changes
  }

  /// - Returns: the observation from before.
  mutating func move(
    to new: StoreObservation, from old: StorePlace, _ difference: AccountDifference
  ) -> ObservationToken? {
    let missed =
      unread.all.flatMap { $0 }
      + (observation.map { old.device.undelivered(to: $0, after: number) } ?? [])
    let changes = difference.changes(of: keys, missing: missed)
    let left = observation?.token
    (observation, number, unread) = (new, nil, ChangeQueue())
    // Each move is a commit, for observers of those.
    if keys == nil || !changes.isEmpty { unread.append(changes) }
    return left
  }
}

/// Change sets in their order.
struct ChangeQueue: Sendable {
  private var sets: [[SettingChange]] = []
  /// Sets before this one were taken.
  private var first = 0

  var all: ArraySlice<[SettingChange]> { sets[first...] }

  mutating func append(_ changes: [SettingChange]) { sets.append(changes) }

  /// In O(1), on average: there may be many.
  mutating func popFirst() -> [SettingChange]? {
    guard first < sets.count else { return nil }
    defer {
      first += 1
      if 2 * first > sets.count {
        sets.removeFirst(first)
        first = 0
      }
    }
    return sets[first]
  }
}

/// The change sets of a store that were not taken yet. A switch of the account replaces them by the
/// differences from the values that were taken.
final class UnreadChanges: Sendable {
  /// Has an element when there may be any, and ends by `cancel()`.
  let arrivals: AsyncStream<Void>
  /// Takes the first one.
  let take: @Sendable () -> [SettingChange]?
  private let token: ObservationToken

  init(
    _ arrivals: AsyncStream<Void>, token: ObservationToken,
    take: @escaping @Sendable () -> [SettingChange]?
  ) {
    (self.arrivals, self.token, self.take) = (arrivals, token, take)
  }

  /// Takes the first one when there is one; nil when it was cancelled.
  func next() async -> [SettingChange]? {
    while true {
      if let changes = take() { return changes }
      var arrivals = arrivals.makeAsyncIterator()
      guard await arrivals.next() != nil else { return nil }
    }
  }

  func cancel() { token.cancel() }
}
