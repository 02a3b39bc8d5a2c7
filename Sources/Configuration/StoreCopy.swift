// SPDX-License-Identifier: Apache-2.0
//
// A store's values in memory, brought up to date by what its observers get.
//
// Invariants
// - The copy is of one moment: it takes a change set whole, and values that are read anew are of
//   one moment too. A change set that it has already, since it was read after the commit, changes
//   nothing.
// - It never goes back: what was read before a change that it has taken is read again.
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
      let snapshots: AsyncStream<StoreSnapshot>.Continuation
    }

    private struct State {
      var snapshot: StoreSnapshot
      /// The last change that it contains.
      var transaction: Int64
      /// As `SettingsStore.layersVersion`.
      var layers: Int
      var device: Device
      var watchers: [Int: Watcher] = [:]
      var next = 0
      var observation: ObservationToken?

      mutating func tell() {
        for (id, watcher) in watchers {
          if let path = watcher.path {
            let value = snapshot.found(path)
            guard value != watcher.last else { continue }
            watchers[id]?.last = value
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
          transaction: moment.transaction, layers: moment.layers, device: moment.device))
      let keys = identity.root.map { KeyFilter.keys([$0]) } ?? .all
      let observation = store.observe(keys) { [weak self] in self?.take($0) }
      state.withLock { $0.observation = observation }
      // What was committed in between.
      try readAgain()
    }

    deinit { state.withLock { $0.observation }?.cancel() }

    /// What is there now, also what was registered since.
    var present: StoreSnapshot {
      let (snapshot, layers) = state.withLock { ($0.snapshot, $0.layers) }
      guard layers != store.layersVersion, !store.isInTransaction else { return snapshot }
      readAgainOrReport()
      return state.withLock { $0.snapshot }
    }

    private func take(_ changes: [SettingChange]) {
      guard let first = changes.first else { return }
      // The numbers of another account's device are its own, and a reload has none.
      guard first.reason != .account, first.reason != .reload else { return readAgainOrReport() }
      do {
        let values = try changes.map { change in
          let key = ByteText(change.key)
          return (key, try store.valueInForce(key, set: change.new))
        }
        state.withLock { state in
          guard first.transaction >= state.transaction else { return }
          for (key, value) in values { state.snapshot.values[key] = value }
          state.transaction = first.transaction
          state.tell()
        }
      } catch {
        store.reportUnread(error)
      }
    }

    private func readAgainOrReport() {
      do {
        try readAgain()
      } catch {
        store.reportUnread(error)
      }
    }

    private func readAgain() throws(KeepsakeError) {
      var isTaken = false
      while !isTaken {
        let moment = try store.moment(of: identity.root)
        isTaken = state.withLock { state in
          // Values of the account before are not those of this one.
          guard moment.device.core === store.device.core,
            moment.device.core !== state.device.core || moment.transaction >= state.transaction
          else { return false }
          let isNews = moment.values != state.snapshot.values
          state.snapshot.values = moment.values
          state.transaction = moment.transaction
          (state.layers, state.device) = (moment.layers, moment.device)
          if isNews { state.tell() }
          return true
        }
      }
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
        state.watchers[state.next] = Watcher(path: path, last: last, snapshots: continuation)
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
