// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubServer
  import Synchronization

  /// A device that waits for changes of an account.
  final class EventListener: Sendable {
    let account: Int64
    let token: AccountToken
    /// Has an element when the mark may have changed; one element stands for many changes.
    let wakes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    /// The newest mark, and how many were announced.
    private let state = Mutex((newest: HubMark.start, count: 0))

    init(_ account: Int64, _ token: AccountToken) {
      (self.account, self.token) = (account, token)
      (wakes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// A late call may name an older mark: then the listener wakes without need.
    func announce(_ newest: HubMark) {
      state.withLock { state in
        if newest.number >= state.newest.number { state.newest = newest }
        state.count += 1
      }
      continuation.yield()
    }

    /// Sets a mark that was read from the store, unless a newer one was announced since the read
    /// began.
    func take(_ newest: HubMark, since count: Int) {
      state.withLock { state in
        if state.count == count || newest.number > state.newest.number { state.newest = newest }
      }
      continuation.yield()
    }

    var newest: HubMark { state.withLock(\.newest) }
    var count: Int { state.withLock(\.count) }
    func end() { continuation.finish() }
  }

  /// The listeners of all accounts.
  final class EventListeners: Sendable {
    /// Held while a listener is found; nothing is called under it.
    private let all = Mutex<[Int64: [EventListener]]>([:])

    var count: Int { all.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// - Throws: a refusal if the device has its maximum of streams.
    func add(_ account: Int64, _ token: AccountToken, limit: Int) throws -> EventListener {
      let listener = EventListener(account, token)
      try all.withLock { all in
        let present = all[account, default: []]
        guard present.count(where: { $0.token == token }) < limit else {
          throw HubRefusal.tooMany(
            limit: "streams", limit, "the device has as many event streams as it may",
            retryAfter: 60)
        }
        all[account] = present + [listener]
      }
      return listener
    }

    /// May be called twice: when its connection ends, and when its answer ends.
    func remove(_ listener: EventListener) {
      listener.end()
      all.withLock { all in
        let left = (all[listener.account] ?? []).filter { $0 !== listener }
        all[listener.account] = left.isEmpty ? nil : left
      }
    }

    func announce(_ account: Int64, _ newest: HubMark) {
      for listener in all.withLock({ $0[account] ?? [] }) { listener.announce(newest) }
    }

    /// Ends the streams of an account, so that each device connects again if it still may.
    func end(_ account: Int64) {
      for listener in all.withLock({ $0[account] ?? [] }) { listener.end() }
    }
  }
#endif
