// SPDX-License-Identifier: Apache-2.0
//
// A store's values in memory, brought up to date by what its observers get.
//
// Invariants
// - The copy is of one moment: it takes a change set whole, and values that are read anew are of
//   one moment too. A change set that it has already, since it was read after the commit, changes
//   nothing.
// - It never goes back: what was read before a change that it has taken is read again.
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
      let observation = store.observe(keys, { [weak self] in self?.take($0) }) {
        [weak self] in self?.refresh()
      }
      state.withLock { $0.observation = observation }
      // What was committed in between.
      _ = try readAgain()
    }

    deinit { state.withLock { $0.observation }?.cancel() }

    /// The present values, read again if the registered defaults have changed.
    var present: StoreSnapshot {
      let (snapshot, layers) = state.withLock { ($0.snapshot, $0.layers) }
      // Within a transaction nothing is read.
      if layers == store.layersVersion || store.isInTransaction { return snapshot }
      if readAgainOrReport() { callFollowers() }
      return state.withLock { $0.snapshot }
    }

    private func take(_ changes: [SettingChange]) {
      // For a reload the store has called `refresh`.
      guard let first = changes.first, first.reason != .reload else { return }
      do {
        let layers = store.layersVersion
        let values = try changes.map { change in
          let key = ByteText(change.key)
          return (key, try store.valueInForce(key, set: change.new))
        }
        state.withLock { state in
          guard first.transaction >= state.transaction else { return }
          for (key, value) in values { state.snapshot.values[key] = value }
          state.snapshot.count += 1
          state.transaction = first.transaction
          // These may have replaced values of later layers; the next look-up reads all again.
          if layers < state.layers { state.layers = -1 }
        }
        callFollowers()
      } catch {
        // The next look-up reads everything again.
        state.withLock { $0.layers = -1 }
        store.reportUnread(error)
        callFollowers()
      }
    }

    /// Reads the present values, and signals to the followers in any case: another thread may have
    /// read them already, and not have come to that.
    private func refresh() {
      _ = readAgainOrReport()
      callFollowers()
    }

    /// - Returns: whether there is anything new.
    private func readAgainOrReport() -> Bool {
      do throws(KeepsakeError) {
        return try readAgain()
      } catch {
        store.reportUnread(error)
        return false
      }
    }

    private func readAgain() throws(KeepsakeError) -> Bool {
      while true {
        let moment = try store.moment(of: identity.root)
        let isNew = state.withLock { state -> Bool? in
          guard moment.transaction >= state.transaction else { return nil }
          let isNew = moment.values != state.snapshot.values
          state.snapshot.values = moment.values
          if isNew { state.snapshot.count += 1 }
          (state.transaction, state.layers) = (moment.transaction, moment.layers)
          return isNew
        }
        if let isNew { return isNew }
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
