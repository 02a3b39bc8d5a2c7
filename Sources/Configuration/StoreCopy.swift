// SPDX-License-Identifier: Apache-2.0
//
// A store's values in memory. The first look-up after a change reads them again.
//
// Invariants
// - The values are of one moment, and are never replaced by older ones.
// - If a read fails, the copy keeps its values, the failure is reported, and the next look-up reads
//   again.
// - Watchers receive a signal, and then read the current values.
//
// Threading: one lock. The store is read without it.

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
      of store: SettingsStore, forProvider name: String,
      secrets: SecretsSpecifier<String, StoredValue>
    ) throws(KeepsakeError) {
      self.store = store
      let moment = try store.moment()
      state = Mutex(
        State(
          snapshot: StoreSnapshot(providerName: name, secrets: secrets, values: moment.values),
          moment: moment))
    }

    /// The current values, read again if the store has changed.
    var current: StoreSnapshot {
      let (snapshot, moment) = state.withLock { ($0.snapshot, $0.moment) }
      // A look-up within a transaction must not read the uncommitted values.
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
    ///   - update: makes the element for watchers from a snapshot.
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

  /// The updates for a watcher, each made from the snapshot at the time of the call.
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
          let current = updates.copy.current
          if let last, current.isSame(as: last, at: updates.key) { continue }
          last = current
          return updates.update(current)
        }
      }
    }
  }
#endif
