// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubServer
  import Synchronization

  /// The bytes of bodies that a hub holds in memory at one time. A request has shown a token by
  /// then, so nobody else takes room.
  final class InFlight: Sendable {
    /// Bytes that are released when nothing refers to it any more.
    final class Share: Sendable {
      fileprivate let sender: HubSender
      fileprivate let bytes: Int
      fileprivate let all: InFlight

      fileprivate init(_ sender: HubSender, _ bytes: Int, _ all: InFlight) {
        (self.sender, self.bytes, self.all) = (sender, bytes, all)
      }

      deinit { all.release(sender, bytes) }
    }

    private let limits: ServerLimits
    /// Held for a few instructions; nothing is called under it.
    private let state = Mutex(State())

    private struct State {
      var total = 0
      var accounts: [Int64: Int] = [:]
      /// By the hash of a token.
      var devices: [[UInt8]: Int] = [:]
    }

    init(_ limits: ServerLimits) { self.limits = limits }

    /// A device has at most half of its account's bytes: it leaves room for the others.
    ///
    /// - Throws: a problem if the process, the account or the device would hold too much.
    func take(_ bytes: Int, for sender: HubSender) throws -> Share {
      try state.withLock { state in
        let account = state.accounts[sender.account] ?? 0
        let device = state.devices[sender.tokenHash] ?? 0
        // One body may always pass.
        let most = limits.accountBytesInFlight
        guard account == 0 || account + bytes <= most,
          device == 0 || device + bytes <= most / 2
        else {
          throw Problem.tooMany(
            "accountBytesInFlight", most, "the account has too many requests under way",
            retryAfter: 1)
        }
        guard state.total == 0 || state.total + bytes <= limits.bytesInFlight else {
          throw Problem.busy("bytesInFlight", limits.bytesInFlight)
        }
        state.total += bytes
        state.accounts[sender.account] = account + bytes
        state.devices[sender.tokenHash] = device + bytes
      }
      return Share(sender, bytes, self)
    }

    private func release(_ sender: HubSender, _ bytes: Int) {
      state.withLock { state in
        state.total -= bytes
        let account = (state.accounts[sender.account] ?? 0) - bytes
        let device = (state.devices[sender.tokenHash] ?? 0) - bytes
        state.accounts[sender.account] = account > 0 ? account : nil
        state.devices[sender.tokenHash] = device > 0 ? device : nil
      }
    }
  }
#endif
