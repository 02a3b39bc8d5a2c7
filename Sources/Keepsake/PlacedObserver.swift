// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// An observer of a store, wherever the store is, and what it has still to receive.
struct PlacedObserver: Sendable {
  typealias Handler = @Sendable ([SettingChange], StorePlace) -> Void

  enum Receiver: Sendable {
    /// Is called with each change set, and the place where it was committed.
    case handler(Handler)
    /// Takes them from `unread` when it gets a signal.
    case reader(signal: @Sendable () -> Void)
  }

  /// What is to be run without a lock.
  struct Call: Sendable {
    let run: @Sendable () -> Void
    /// Whether nothing can follow.
    let isLast: Bool
  }

  /// Nil for every commit, whatever it changed.
  let keys: KeyFilter?
  private let receiver: Receiver
  /// Of a copy of the store, which it reads anew.
  let refresh: (@Sendable () -> Void)?
  /// On the device that the store is on; nil until it is made.
  var observation: StoreObservation?
  /// Of the last change set that came in from that device; nil for none.
  var number: Int?
  var unread = ChangeQueue()
  /// Whether it gets nothing after what it has still to receive.
  var hasEnded = false
  /// Whether a thread takes from `unread` until it is empty.
  private var isCalled = false

  init(keys: KeyFilter?, _ receiver: Receiver, refresh: (@Sendable () -> Void)? = nil) {
    (self.keys, self.receiver, self.refresh) = (keys, receiver, refresh)
  }

  /// What is to be done about `unread`; nil for nothing, also when another thread does it.
  ///
  /// - Parameter isCaller: whether this thread did the call before.
  mutating func next(isCaller: Bool, at place: @autoclosure () -> StorePlace) -> Call? {
    switch receiver {
    case .reader(let signal): return Call(run: signal, isLast: true)
    case .handler(let handler):
      guard isCaller || !isCalled else { return nil }
      let changes = unread.popFirst()
      isCalled = changes != nil
      guard let changes else { return nil }
      let place = place()
      return Call(run: { handler(changes, place) }, isLast: false)
    }
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
  /// Ends it with what has not been taken yet.
  let finish: @Sendable () -> Void
  private let token: ObservationToken

  init(
    _ arrivals: AsyncStream<Void>, token: ObservationToken,
    take: @escaping @Sendable () -> [SettingChange]?, finish: @escaping @Sendable () -> Void
  ) {
    (self.arrivals, self.token, self.take, self.finish) = (arrivals, token, take, finish)
  }

  /// Takes the first one when there is one; nil when it or the task was cancelled.
  ///
  /// - Parameter actor: where it is taken, so that none is on its way when this actor switches the
  ///   account.
  func next(isolation actor: isolated (any Actor)?) async -> [SettingChange]? {
    var arrivals = arrivals.makeAsyncIterator()
    while !Task.isCancelled {
      if let changes = take() { return changes }
      guard await arrivals.next(isolation: actor) != nil else { break }
    }
    cancel()
    return nil
  }

  func cancel() { token.cancel() }
}
