// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Synchronization

  /// A token bucket for each key.
  final class RateLimit<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
      /// Requests that are left, in 60,000ths: what fills up in a millisecond at one a minute.
      var left: Int64
      var date: Int64
    }

    private let perMinute: Int64
    private let burst: Int64
    /// Held for a few instructions; nothing is called under it.
    private let buckets = Mutex<[Key: Bucket]>([:])

    /// Two fifths of the requests of a minute may come at once: a first sync sends one for each
    /// page.
    init(perMinute: Int) {
      (self.perMinute, burst) = (Int64(perMinute), Int64(max(perMinute * 2 / 5, 1)) * 60_000)
    }

    /// - Returns: nil if the request may go on; otherwise the seconds after which it may.
    func take(_ key: Key, at now: Int64) -> Int? {
      buckets.withLock { buckets in
        var bucket = buckets[key] ?? Bucket(left: burst, date: now)
        // A clock that was set back gives nothing, and takes nothing. No more is counted than
        // fills the bucket.
        let passed = min(max(now - bucket.date, 0), burst / perMinute + 1)
        bucket.left = min(burst, bucket.left + passed * perMinute)
        bucket.date = now
        defer { buckets[key] = bucket }
        guard bucket.left < 60_000 else {
          bucket.left -= 60_000
          return nil
        }
        return Int((60_000 - bucket.left + perMinute * 1_000 - 1) / (perMinute * 1_000))
      }
    }
  }
#endif
