// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeepsakeDevice
public import KeepsakeSync
package import KeepsakeValues
import Synchronization

/// An account of a hub, as one device uses it.
///
///     let hub = try Hub(HubURL("https://hub.example"), token: token)
///     try device.merge(with: hub)
///
/// A device has a token of its own; `HubMembership` gets one.
public struct Hub: Sendable {
  let client: HubClient
  private let meetings = Meetings()

  /// Under which replica ID the hub was met last: a meeting that knows it needs no look first.
  package var lastMet: ReplicaID? {
    get { meetings.lastMet.withLock { $0 } }
    nonmutating set { meetings.lastMet.withLock { $0 = newValue } }
  }

  /// What copies of a `Hub` share.
  private final class Meetings: Sendable {
    let lastMet = Mutex<ReplicaID?>(nil)
  }

  /// The hub's address.
  public var url: HubURL { client.url }

  /// Asks the hub nothing.
  ///
  /// - Throws: `KeepsakeError` with the code `unauthorized` for what is no token.
  public init(_ url: HubURL, token: String) throws(KeepsakeError) {
    try self.init(url, token: token, by: SystemTransport.make())
  }

  package init(
    _ url: HubURL, token: String, by transport: any HubTransport,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    pause: (@Sendable (Duration) -> Void)? = nil
  ) throws(KeepsakeError) {
    guard HubSecret.isOne(token) else {
      throw KeepsakeError(
        .unauthorized, path: url.description, "the token is none of a hub's",
        cure: "use the 43 letters, digits, - and _ that joining the account gave")
    }
    var client = HubClient(url: url, token: token, transport: transport, now: now)
    client.pause = pause ?? client.pause
    self.client = client
  }
}

/// Tokens, codes and the operator's secret: 32 bytes as base64url without padding.
enum HubSecret {
  static func isOne(_ text: String) -> Bool {
    text.utf8.count == 43
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      }
  }
}

extension Device {
  /// Merges this device with a hub, both ways; the last writer of each key wins.
  ///
  /// As a merge with another file: safe at any time, and again it changes nothing. In the report
  /// this device is number 0 and the hub number 1. This device finds the conflicts, and logs them.
  /// Waits for the network on the calling thread, and a minute at most for a hub that is busy for
  /// some seconds.
  ///
  /// - Parameters:
  ///   - hub: the hub, with this device's token.
  ///   - options: `isOneWay` and stores that do not sync are refused.
  /// - Throws: `KeepsakeError`; what was merged until then stays merged, its `mergeReport` has it,
  ///   and merging again goes on from there. `retryAfter` tells when a hub that is busy wants it.
  @discardableResult
  public func merge(
    with hub: Hub, options: MergeOptions = MergeOptions()
  ) throws(KeepsakeError) -> MergeReport {
    try Merge.run(self, with: HTTPChannel(hub: hub), options: options)
  }
}
