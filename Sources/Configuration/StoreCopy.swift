// SPDX-License-Identifier: Apache-2.0
//
// A store's values in memory, which the first look-up after a change reads again.
//
// Invariants
// - The copy is of one moment, and never goes back.
// - A copy that cannot be read again stays as it is, the failure is reported, and the next look-up
//   tries again.
// - Followers and watchers get a signal, and read the present values then.
//
// Threading: one lock. Reads and calls of followers happen without it.

#if Configuration
  import Configuration
  import Keepsake
  import KeepsakeValues
  import Synchronization

  final class StoreCopy: Sendable {
    private struct State {
      var snapshot: StoreSnapshot
      /// The last change that it contains.
      var transaction: Int64
      /// As `SettingsStore.layersVersion`.
      var layers: Int
      /// How many changes the observers were notified of.
      var changes = 0
      /// How many of them came before it was read.
      var contained = 0
      var followers: [Int: @Sendable () -> Void] = [:]
      var next = 0
      var observation: ObservationToken?
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
          transaction: moment.transaction, layers: moment.layers))
      let keys = identity.root.map { KeyFilter.keys([$0]) } ?? .all
      let observation = store.observe(keys, { [weak self] _ in self?.didChange() }) {
        [weak self] in self?.didChange()
      }
      state.withLock { $0.observation = observation }
      // What was committed in between.
      _ = try readAgain()
    }

    deinit { state.withLock { $0.observation }?.cancel() }

    /// The present values, read again if there was a change or other defaults were registered.
    var present: StoreSnapshot {
      let layers = store.layersVersion
      let (snapshot, isCurrent) = state.withLock {
        ($0.snapshot, $0.layers == layers && $0.contained == $0.changes)
      }
      // Within a transaction nothing is read.
      if isCurrent || store.isInTransaction { return snapshot }
      do throws(KeepsakeError) {
        if try readAgain() { callFollowers() }
      } catch {
        store.reportUnread(error)
      }
      return state.withLock { $0.snapshot }
    }

    private func didChange() {
      state.withLock { $0.changes += 1 }
      callFollowers()
    }

    /// - Returns: whether there is anything new that the followers were not called for.
    private func readAgain() throws(KeepsakeError) -> Bool {
      while true {
        let changes = state.withLock { $0.changes }
        let moment = try store.moment(of: identity.root)
        let isNews = state.withLock { state -> Bool? in
          guard moment.transaction >= state.transaction else { return nil }
          let isNew = moment.values != state.snapshot.values
          let wasAnnounced = state.contained != changes
          state.snapshot.values = moment.values
          if isNew { state.snapshot.count += 1 }
          (state.transaction, state.layers) = (moment.transaction, moment.layers)
          state.contained = changes
          return isNew && !wasAnnounced
        }
        if let isNews { return isNews }
      }
    }

    // MARK: - Following

    /// Calls `handler` after each change, before the commit that made it returns, without a lock.
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

    /// - Parameters:
    ///   - path: nil for all keys.
    ///   - update: what watchers get of a snapshot.
    func watch<Update: Sendable, Return: ~Copyable>(
      _ path: KeyPath?,
      _ body: (ConfigUpdatesAsyncSequence<Update, Never>) async throws -> Return,
      _ update: @escaping @Sendable (StoreSnapshot) -> Update
    ) async throws -> Return {
      let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
      let token = follow { signal.yield() }
      defer {
        token.cancel()
        signal.finish()
      }
      return try await body(
        ConfigUpdatesAsyncSequence(
          SnapshotUpdates(copy: self, path: path, signals: signals, update: update)))
    }
  }

  /// The updates that a watcher gets, each made of the snapshot at the time of the call.
  private struct SnapshotUpdates<Update: Sendable>: AsyncSequence, Sendable {
    let copy: StoreCopy
    /// Nil for all keys.
    let path: KeyPath?
    let signals: AsyncStream<Void>
    let update: @Sendable (StoreSnapshot) -> Update

    func makeAsyncIterator() -> Iterator {
      Iterator(updates: self, signals: signals.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
      let updates: SnapshotUpdates
      var signals: AsyncStream<Void>.Iterator
      var last: StoreSnapshot?

      mutating func next() async -> Update? { await next(isolation: nil) }

      mutating func next(isolation actor: isolated (any Actor)?) async -> Update? {
        while true {
          if last != nil { guard await signals.next(isolation: actor) != nil else { return nil } }
          let present = updates.copy.present
          if let last, present.isSame(as: last, at: updates.path) { continue }
          last = present
          return updates.update(present)
        }
      }
    }
  }
#endif
