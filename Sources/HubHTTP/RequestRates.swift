// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubServer
  import Synchronization

  /// Limits the rate of requests: a token bucket for each token that the hub has accepted, and one
  /// for all other requests, which cost a look-up in the database.
  final class RequestRates: Sendable {
    private struct TokenBucket {
      /// When it is full again, in microseconds since 1970.
      var full: Int64
      /// When its token was accepted last, in milliseconds.
      var accepted: Int64?
    }

    private struct TokenBuckets {
      /// By token; nil for all requests without an accepted token.
      var buckets: [AccountToken?: TokenBucket] = [:]
      /// When unused buckets were removed last.
      var cleaned: Int64 = 0
    }

    /// Milliseconds after which a token is looked up again.
    private static let memory: Int64 = 600_000
    private static let day: Int64 = 86_400_000
    private let limits: ServerLimits
    /// Held for a few instructions; nothing is called under it.
    private let state = Mutex(TokenBuckets())

    init(_ limits: ServerLimits) { self.limits = limits }

    /// Counts a request of a token.
    ///
    /// - Returns: whether the token was accepted recently.
    func countRequest(of token: AccountToken, at now: Int64) throws -> Bool {
      guard let accepted = state.withLock({ $0.buckets[token]?.accepted }) else {
        try countUnknownRequest(at: now)
        return false
      }
      guard let seconds = take(token, limit: limits.requestsPerMinute, at: now) else {
        return abs(now - accepted) < Self.memory
      }
      throw HubRefusal.tooMany(
        limit: "requestsPerMinute", limits.requestsPerMinute, "the device asks too often",
        retryAfter: seconds)
    }

    /// Counts a request without a token that the hub has accepted.
    func countUnknownRequest(at now: Int64) throws {
      guard let seconds = take(nil, limit: limits.unknownPerMinute, at: now) else { return }
      throw HubRefusal.tooMany(
        limit: "unknownPerMinute", limits.unknownPerMinute,
        "the hub gets too many requests without a token that it knows", retryAfter: seconds)
    }

    func accept(_ token: AccountToken, at now: Int64) {
      state.withLock { state in
        state.buckets[token, default: TokenBucket(full: now * 1_000)].accepted = now
        guard abs(now - state.cleaned) >= Self.day else { return }
        state.cleaned = now
        state.buckets = state.buckets.filter { abs(now - $0.value.full / 1_000) < Self.day }
      }
    }

    /// Lets all tokens of an account be looked up again: one of them was revoked.
    func forget(_ account: Int64) {
      state.withLock { state in
        for token in state.buckets.keys where token?.account == account {
          state.buckets[token]?.accepted = nil
        }
      }
    }

    /// Two fifths of the requests of a minute may come at once: a first sync sends one for each
    /// page.
    ///
    /// - Returns: nil if the request may go on; otherwise the seconds after which it may.
    private func take(_ token: AccountToken?, limit: Int, at now: Int64) -> Int? {
      let (now, second) = (now * 1_000, Int64(1_000_000))
      let share = 60 * second / Int64(limit)
      let all = Int64(max(limit * 2 / 5, 1)) * share
      return state.withLock { state in
        var bucket = state.buckets[token] ?? TokenBucket(full: now)
        // If the clock was set back, the bucket is empty at most.
        let used = min(max(bucket.full - now, 0), all)
        let missing = used + share - all
        bucket.full = now + used + (missing > 0 ? 0 : share)
        state.buckets[token] = bucket
        return missing > 0 ? Int((missing + second - 1) / second) : nil
      }
    }
  }
#endif
