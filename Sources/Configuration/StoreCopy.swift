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
      /// The values of which the snapshot was made.
      var values: StoreValues
    }

    private let store: SettingsStore
    private let state: Mutex<State>

    init(
      of store: SettingsStore, forProvider name: String,
      secrets: SecretsSpecifier<String, StoredValue>
    ) throws(KeepsakeError) {
      self.store = store
      let values = try store.readAllValues()
      state = Mutex(
        State(
          snapshot: StoreSnapshot(providerName: name, secrets: secrets, values: values.values),
          values: values))
    }

    /// The current values, read again if the store has changed.
    var current: StoreSnapshot {
      let (snapshot, values) = state.withLock { ($0.snapshot, $0.values) }
      // A look-up within a transaction must not read the uncommitted values.
      if values.areCurrent || store.isInTransaction { return snapshot }
      do throws(KeepsakeError) {
        return try read()
      } catch {
        store.backing.reportReadAllFailure(error)
        return snapshot
      }
    }

    /// The values that the store has now.
    func read() throws(KeepsakeError) -> StoreSnapshot {
      let values = try store.readAllValues()
      return state.withLock { state in
        // Another thread may have read later values meanwhile.
        guard values.transaction >= state.values.transaction else { return state.snapshot }
        if values.values != state.values.values {
          state.snapshot.values = values.values
          state.snapshot.count += 1
        }
        state.values = values
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
