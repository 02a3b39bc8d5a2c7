// SPDX-License-Identifier: Apache-2.0
//
// A store's values in memory, brought up to date by what its observers get.
//
// Invariants
// - The copy is of one moment: it takes a change set whole, and values that are read anew are of
//   one moment too. A change set that it has already, since it was read after the commit, changes
//   nothing.
// - It never goes back: what was read before a change that it has taken is read again.
// - It belongs to a place of the store. It takes no change of another place, and when the store has
//   moved it is read again before anything is looked up; until that succeeds it has only the error.
//
// Threading: one lock, with which nothing is read. Watchers get a snapshot with the lock held, so
// that they get them in order: yielding to a stream runs no code of a watcher. The watcher itself
// asks which values of the snapshot are secrets, after the lock.

#if Configuration
  import Configuration
  import Keepsake
  import KeepsakeValues
  import Synchronization

  final class StoreCopy: Sendable {
    /// Who waits for changes.
    private struct Watcher: Sendable {
      /// Nil for all keys.
      let path: KeyPath?
      /// What was there when it was last told.
      var last: ValueInForce?
      var hasFailed = false
      let snapshots: AsyncStream<StoreSnapshot>.Continuation
    }

    private struct State {
      var snapshot: StoreSnapshot
      /// The last change that it contains.
      var transaction: Int64
      /// As `SettingsStore.layersVersion`.
      var layers: Int
      var place: StorePlace
      var watchers: [Int: Watcher] = [:]
      var followers: [Int: @Sendable () -> Void] = [:]
      var next = 0
      var observation: ObservationToken?

      mutating func tell() {
        for (id, watcher) in watchers {
          if let path = watcher.path {
            let (value, hasFailed) = (snapshot.found(path), snapshot.failure != nil)
            guard value != watcher.last || hasFailed != watcher.hasFailed else { continue }
            watchers[id]?.last = value
            watchers[id]?.hasFailed = hasFailed
          }
          watcher.snapshots.yield(snapshot)
        }
      }
    }

    let store: SettingsStore
    let identity: KeepsakeProvider.Identity
    private let state: Mutex<State>

    init(
      _ store: SettingsStore, _ identity: KeepsakeProvider.Identity
    ) throws(KeepsakeError) {
      (self.store, self.identity) = (store, identity)
      let moment = try store.moment(of: identity.root)
      state = Mutex(
        State(
          snapshot: StoreSnapshot(provider: identity, values: moment.values),
          transaction: moment.transaction, layers: moment.layers, place: moment.place))
      let keys = identity.root.map { KeyFilter.keys([$0]) } ?? .all
      let observation = store.observe(keys, at: { [weak self] in self?.take($0, at: $1) })
      state.withLock { $0.observation = observation }
      // What was committed in between.
      try readAgain()
    }

    deinit { state.withLock { $0.observation }?.cancel() }

    /// The present values, read again if the account or the registered defaults have changed.
    var present: StoreSnapshot {
      let place = store.storePlace
      let (snapshot, isHere, layers) = state.withLock {
        ($0.snapshot, $0.place === place, $0.layers)
      }
      // Within a transaction nothing is read, and an error is better than another account's value.
      let isCurrent = layers == store.layersVersion || store.isInTransaction
      guard !isHere || !isCurrent else { return snapshot }
      readAgainOrReport()
      return state.withLock { $0.snapshot }
    }

    /// - Parameter place: where the changes were committed.
    private func take(_ changes: [SettingChange], at place: StorePlace) {
      guard let first = changes.first else { return }
      // The first ones at another place are the differences of two, and a reload has no number.
      guard first.reason != .account, first.reason != .reload else { return readAgainOrReport() }
      do {
        let values = try changes.map { change in
          let key = ByteText(change.key)
          return (key, try store.valueInForce(key, set: change.new, at: place))
        }
        let isHere = state.withLock { state in
          guard state.place === place else { return false }
          guard first.transaction >= state.transaction else { return true }
          for (key, value) in values { state.snapshot.values[key] = value }
          state.transaction = first.transaction
          state.tell()
          return true
        }
        if isHere { callFollowers() } else { readAgainOrReport() }
      } catch {
        store.reportUnread(error)
      }
    }

    private func readAgainOrReport() {
      do throws(KeepsakeError) {
        try readAgain()
      } catch {
        let place = store.storePlace
        let isNews = state.withLock { state in
          // It stays at the place that was left, so that each look-up tries again.
          guard state.place !== place, state.snapshot.failure == nil else { return false }
          (state.snapshot.values, state.snapshot.failure) = ([:], error)
          state.tell()
          return true
        }
        if isNews { callFollowers() }
        store.reportUnread(error)
      }
    }

    private func readAgain() throws(KeepsakeError) {
      var isNews: Bool?
      while isNews == nil {
        let moment = try store.moment(of: identity.root)
        isNews = state.withLock { state -> Bool? in
          guard moment.place === store.storePlace,
            moment.place !== state.place || moment.transaction >= state.transaction
          else { return nil }
          let isNews = moment.values != state.snapshot.values || state.snapshot.failure != nil
          (state.snapshot.values, state.snapshot.failure) = (moment.values, nil)
          state.transaction = moment.transaction
          (state.layers, state.place) = (moment.layers, moment.place)
          if isNews { state.tell() }
          return isNews
        }
      }
      if isNews == true { callFollowers() }
    }

    // MARK: - Following

    /// The last values that are known, without any reading.
    var last: StoreSnapshot { state.withLock { $0.snapshot } }

    /// Calls `handler` after each change, before the commit or the switch of the account returns
    /// that made it, without a lock.
    func follow(_ handler: @escaping @Sendable () -> Void) -> ObservationToken {
      let id = state.withLock { state in
        defer { state.next += 1 }
        state.followers[state.next] = handler
        return state.next
      }
      return ObservationToken { [self] in
        // Releases the handler without the lock: what it holds may call us.
        _ = state.withLock { $0.followers.removeValue(forKey: id) }
      }
    }

    private func callFollowers() {
      for follower in state.withLock({ Array($0.followers.values) }) { follower() }
    }

    // MARK: - Watching

    /// - Parameters:
    ///   - path: nil for all keys.
    ///   - update: what watchers get of a snapshot.
    func watch<Update: Sendable, Return: ~Copyable>(
      _ path: KeyPath?,
      _ body: (ConfigUpdatesAsyncSequence<Update, Never>) async throws -> Return,
      _ update: @escaping @Sendable (StoreSnapshot) -> Update
    ) async throws -> Return {
      let (stream, continuation) = AsyncStream<StoreSnapshot>.makeStream(
        bufferingPolicy: .bufferingNewest(1))
      _ = present
      let id = state.withLock { state in
        let last = path.flatMap(state.snapshot.found)
        state.watchers[state.next] = Watcher(
          path: path, last: last, hasFailed: state.snapshot.failure != nil,
          snapshots: continuation)
        continuation.yield(state.snapshot)
        state.next += 1
        return state.next - 1
      }
      defer {
        _ = state.withLock { $0.watchers.removeValue(forKey: id) }
        continuation.finish()
      }
      return try await body(ConfigUpdatesAsyncSequence(stream.map { update($0) }))
    }
  }
#endif
