// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Synchronization

  /// A token bucket for each device.
  package final class RateLimit: Sendable {
    private struct Bucket {
      /// Requests that are left, in 60,000ths: what fills up in a millisecond at one a minute.
      var left: Int64
      var date: Int64
    }

    private let perMinute: Int64
    private let burst: Int64
    /// Held for a few instructions; nothing is called under it.
    private let buckets = Mutex<[Int64: Bucket]>([:])

    package init(perMinute: Int, burst: Int) {
      (self.perMinute, self.burst) = (Int64(max(perMinute, 1)), Int64(max(burst, 1)) * 60_000)
    }

    /// - Returns: nil if the device may go on; else after how many seconds it may.
    package func take(_ device: Int64, at now: Int64) -> Int? {
      buckets.withLock { buckets in
        var bucket = buckets[device] ?? Bucket(left: burst, date: now)
        // A clock that was set back gives nothing, and takes nothing; a day fills any bucket.
        let passed = min(max(now - bucket.date, 0), 86_400_000)
        bucket.left = min(burst, bucket.left + passed * perMinute)
        bucket.date = now
        defer { buckets[device] = bucket }
        guard bucket.left < 60_000 else {
          bucket.left -= 60_000
          return nil
        }
        return Int((60_000 - bucket.left + perMinute * 1_000 - 1) / (perMinute * 1_000))
      }
    }
  }
#endif
