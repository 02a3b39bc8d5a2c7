// SPDX-License-Identifier: Apache-2.0
//
// A store's values in memory, which the first look-up after a change reads again.
//
// Invariants
// - The copy is of one moment, and never goes back.
// - A copy that cannot be read again stays as it is, the failure is reported, and the next look-up
//   tries again.
// - Watchers get a signal, and read the present values then.
//
// Threading: one lock, and the store is read without it.

#if Configuration
  import Configuration
  import Keepsake
  import KeepsakeValues
  import Synchronization

  final class StoreCopy: Sendable {
    private struct State {
      var snapshot: StoreSnapshot
      /// The moment at which the snapshot was read.
      var moment: StoreMoment
    }

    private let store: SettingsStore
    private let state: Mutex<State>

    init(
      _ store: SettingsStore, _ identity: KeepsakeProvider.Identity
    ) throws(KeepsakeError) {
      self.store = store
      let moment = try store.moment()
      state = Mutex(
        State(snapshot: StoreSnapshot(provider: identity, values: moment.values), moment: moment))
    }

    /// The present values, read again if the store has changed.
    var present: StoreSnapshot {
      let (snapshot, moment) = state.withLock { ($0.snapshot, $0.moment) }
      // Within a transaction nothing is read.
      if moment.isCurrent || store.isInTransaction { return snapshot }
      do throws(KeepsakeError) {
        return try read()
      } catch {
        store.reportUnread(error)
        return snapshot
      }
    }

    /// The values that the store has now.
    func read() throws(KeepsakeError) -> StoreSnapshot {
      let moment = try store.moment()
      return state.withLock { state in
        // Another thread may have read later values meanwhile.
        guard moment.transaction >= state.moment.transaction else { return state.snapshot }
        if moment.values != state.moment.values {
          state.snapshot.values = moment.values
          state.snapshot.count += 1
        }
        state.moment = moment
        return state.snapshot
      }
    }

    /// - Parameters:
    ///   - key: nil for all keys.
    ///   - update: what watchers get of a snapshot.
    func watch<Update: Sendable, Return: ~Copyable>(
      _ key: AbsoluteConfigKey?,
      _ body: (ConfigUpdatesAsyncSequence<Update, Never>) async throws -> Return,
      _ update: @escaping @Sendable (StoreSnapshot) -> Update
    ) async throws -> Return {
      let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
      let token = store.observe { _ in signal.yield() }
      defer {
        token.cancel()
        signal.finish()
      }
      return try await body(
        ConfigUpdatesAsyncSequence(
          SnapshotUpdates(copy: self, key: key, signals: signals, update: update)))
    }
  }

  /// The updates that a watcher gets, each made of the snapshot at the time of the call.
  private struct SnapshotUpdates<Update: Sendable>: AsyncSequence, Sendable {
    let copy: StoreCopy
    /// Nil for all keys.
    let key: AbsoluteConfigKey?
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
          if let last, present.isSame(as: last, at: updates.key) { continue }
          last = present
          return updates.update(present)
        }
      }
    }
  }
#endif
