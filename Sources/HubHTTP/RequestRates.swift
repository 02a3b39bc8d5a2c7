// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubServer
  import Synchronization

  /// How often devices may ask. A token that the hub has not accepted yet costs a look-up in the
  /// database: all of those share one rate.
  final class RequestRates: Sendable {
    private let limits: ServerLimits
    private let devices: RateLimit<Token>
    private let unknown: RateLimit<Bool>
    /// Tokens that were accepted. Held for a few instructions; nothing is called under it.
    private let known = Mutex<Set<Token>>([])

    init(_ limits: ServerLimits) {
      self.limits = limits
      devices = RateLimit(perMinute: limits.requestsPerMinute)
      unknown = RateLimit(perMinute: limits.unknownPerMinute)
    }

    func check(_ token: Token, at now: Int64) throws {
      guard known.withLock({ $0.contains(token) }) else { return try checkUnknown(at: now) }
      guard let seconds = devices.take(token, at: now) else { return }
      throw Problem.tooMany(
        "requestsPerMinute", limits.requestsPerMinute, "the device asks too often",
        retryAfter: seconds)
    }

    func checkUnknown(at now: Int64) throws {
      guard let seconds = unknown.take(true, at: now) else { return }
      throw Problem.tooMany(
        "unknownPerMinute", limits.unknownPerMinute,
        "the hub gets too many requests without a token that it knows", retryAfter: seconds)
    }

    func know(_ token: Token) { known.withLock { _ = $0.insert(token) } }

    func forget(_ token: Token) { known.withLock { _ = $0.remove(token) } }
  }
#endif
