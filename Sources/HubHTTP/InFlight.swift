// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Synchronization

  /// The bytes of bodies that a hub holds in memory at one time.
  final class InFlight: Sendable {
    /// Bytes that are released when nothing refers to it any more.
    final class Share: Sendable {
      fileprivate let token: Token
      fileprivate let bytes: Int
      fileprivate let all: InFlight

      fileprivate init(_ token: Token, _ bytes: Int, _ all: InFlight) {
        (self.token, self.bytes, self.all) = (token, bytes, all)
      }

      deinit { all.release(token, bytes) }
    }

    private let limits: ServerLimits
    /// Held for a few instructions; nothing is called under it.
    private let state = Mutex(State())

    private struct State {
      var total = 0
      var tokens: [Token: Int] = [:]
      var accounts: [Int64: Int] = [:]
    }

    init(_ limits: ServerLimits) { self.limits = limits }

    /// - Throws: a problem if the process or the device would hold too much.
    func take(_ bytes: Int, for token: Token) throws -> Share {
      try state.withLock { state in
        let own = state.tokens[token] ?? 0
        // One body may always pass.
        guard own == 0 || own + bytes <= limits.tokenBytesInFlight else {
          throw Problem.tooMany(
            "tokenBytesInFlight", limits.tokenBytesInFlight,
            "the device has too many requests under way", retryAfter: 1)
        }
        let shared = state.accounts[token.account] ?? 0
        guard shared == 0 || shared + bytes <= limits.accountBytesInFlight else {
          throw Problem.tooMany(
            "accountBytesInFlight", limits.accountBytesInFlight,
            "the account has too many requests under way", retryAfter: 1)
        }
        guard state.total == 0 || state.total + bytes <= limits.bytesInFlight else {
          throw Problem.busy("bytesInFlight", limits.bytesInFlight)
        }
        state.total += bytes
        state.tokens[token] = own + bytes
        state.accounts[token.account] = shared + bytes
      }
      return Share(token, bytes, self)
    }

    private func release(_ token: Token, _ bytes: Int) {
      state.withLock { state in
        state.total -= bytes
        let left = (state.tokens[token] ?? 0) - bytes
        state.tokens[token] = left > 0 ? left : nil
        let shared = (state.accounts[token.account] ?? 0) - bytes
        state.accounts[token.account] = shared > 0 ? shared : nil
      }
    }
  }
#endif
