// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Synchronization

  /// How often devices may ask: a token bucket for each token that the hub has accepted, and one
  /// for all other requests, which cost a look-up in the database.
  final class RequestRates: Sendable {
    private struct Bucket {
      /// Requests that are left, in 60,000ths: what fills up in a millisecond at one a minute.
      var left: Int64
      var date: Int64
      /// When its token was accepted last.
      var accepted: Int64?
    }

    private struct State {
      /// By token; nil for all that the hub has not accepted.
      var buckets: [Token?: Bucket] = [:]
      /// When those that were not used for a day were forgotten last.
      var cleaned: Int64 = 0
    }

    /// Milliseconds after which a token is looked up again.
    private static let memory: Int64 = 600_000
    private static let day: Int64 = 86_400_000
    private let limits: ServerLimits
    /// Held for a few instructions; nothing is called under it.
    private let state = Mutex(State())

    init(_ limits: ServerLimits) { self.limits = limits }

    /// Counts a request of a token.
    ///
    /// - Returns: whether the token was accepted not long ago.
    func count(_ token: Token, at now: Int64) throws -> Bool {
      guard let accepted = state.withLock({ $0.buckets[token]?.accepted }) else {
        try countUnknown(at: now)
        return false
      }
      guard let seconds = take(token, limits.requestsPerMinute, at: now) else {
        return abs(now - accepted) < Self.memory
      }
      throw Problem.tooMany(
        "requestsPerMinute", limits.requestsPerMinute, "the device asks too often",
        retryAfter: seconds)
    }

    /// Counts a request without a token that the hub has accepted.
    func countUnknown(at now: Int64) throws {
      guard let seconds = take(nil, limits.unknownPerMinute, at: now) else { return }
      throw Problem.tooMany(
        "unknownPerMinute", limits.unknownPerMinute,
        "the hub gets too many requests without a token that it knows", retryAfter: seconds)
    }

    func accept(_ token: Token, at now: Int64) {
      state.withLock { state in
        let full = Bucket(left: burst(limits.requestsPerMinute), date: now)
        state.buckets[token, default: full].accepted = now
        guard abs(now - state.cleaned) >= Self.day else { return }
        state.cleaned = now
        // A bucket is full long before.
        state.buckets = state.buckets.filter { abs(now - $0.value.date) < Self.day }
      }
    }

    /// Looks up all tokens of an account again: one of them was revoked.
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
    private func take(_ token: Token?, _ limit: Int, at now: Int64) -> Int? {
      let (perMinute, burst) = (Int64(limit), burst(limit))
      return state.withLock { state in
        var bucket = state.buckets[token] ?? Bucket(left: burst, date: now)
        // A clock that was set back gives nothing, and takes nothing. No more is counted than
        // fills the bucket.
        let passed = min(max(now - bucket.date, 0), burst / perMinute + 1)
        bucket.left = min(burst, bucket.left + passed * perMinute)
        bucket.date = now
        defer { state.buckets[token] = bucket }
        guard bucket.left < 60_000 else {
          bucket.left -= 60_000
          return nil
        }
        return Int((60_000 - bucket.left + perMinute * 1_000 - 1) / (perMinute * 1_000))
      }
    }

    private func burst(_ limit: Int) -> Int64 { Int64(max(limit * 2 / 5, 1)) * 60_000 }
  }
#endif
