// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubServer
  import Synchronization

  /// Whether a hub can serve, as far as a look at its database does not tell: a full disk, or a
  /// file that was moved, is found by who writes.
  final class Readiness: Sendable {
    /// When a device's request failed in the database, if no push went well since: milliseconds by
    /// the hub's clock, which may be set back.
    private let failure = Mutex<Int64?>(nil)
    /// Who asks again after so long finds out.
    private static let memory: Int64 = 60_000

    func fail(at now: Int64) { failure.withLock { $0 = now } }
    func succeed() { failure.withLock { $0 = nil } }

    func check(at now: Int64) throws {
      guard let failed = failure.withLock(\.self),
        (failed..<failed + Self.memory).contains(now)
      else { return }
      throw Problem(HubStoreError.unavailable(""))
    }
  }
#endif
