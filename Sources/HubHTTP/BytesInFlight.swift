// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubServer
  import Synchronization

  /// Limits the bytes of bodies that a hub holds in memory at one time. Only requests with an
  /// accepted token get this far.
  final class BytesInFlight: Sendable {
    /// Bytes that are released with the last reference to it.
    final class Share: Sendable {
      fileprivate let sender: HubSender
      fileprivate let bytes: Int
      fileprivate let all: BytesInFlight

      fileprivate init(_ sender: HubSender, _ bytes: Int, _ all: BytesInFlight) {
        (self.sender, self.bytes, self.all) = (sender, bytes, all)
      }

      deinit { all.release(sender, bytes) }
    }

    private let limits: ServerLimits
    /// All bytes, and those of each device by the hash of its token. Held for a few instructions;
    /// nothing is called under it.
    private let state = Mutex((total: 0, devices: [[UInt8]: Int]()))

    init(_ limits: ServerLimits) { self.limits = limits }

    /// - Throws: a refusal if the process or the device would hold too much; one body may always
    ///   pass.
    func take(_ bytes: Int, for sender: HubSender) throws -> Share {
      try state.withLock { state in
        let device = state.devices[sender.tokenHash] ?? 0
        guard device == 0 || device + bytes <= limits.deviceBytesInFlight else {
          throw HubRefusal.tooMany(
            limit: "deviceBytesInFlight", limits.deviceBytesInFlight,
            "the device has too many requests under way", retryAfter: 1)
        }
        guard state.total == 0 || state.total + bytes <= limits.bytesInFlight else {
          throw HubRefusal.busy(limit: "bytesInFlight", limits.bytesInFlight)
        }
        state.total += bytes
        state.devices[sender.tokenHash] = device + bytes
      }
      return Share(sender, bytes, self)
    }

    private func release(_ sender: HubSender, _ bytes: Int) {
      state.withLock { state in
        state.total -= bytes
        let device = (state.devices[sender.tokenHash] ?? 0) - bytes
        state.devices[sender.tokenHash] = device > 0 ? device : nil
      }
    }
  }
#endif
