// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeepsakeDevice
public import KeepsakeSync
import KeepsakeValues

/// An account of a hub, as one device uses it.
///
///     let hub = Hub(try HubURL("https://hub.example"), membership)
///     try device.merge(with: hub)
///
/// A device has a membership of its own.
public struct Hub: Sendable {
  let client: HubClient
  /// The ID of the account.
  public let account: Int64

  /// The hub's address.
  public var url: HubURL { client.url }

  /// Does not contact the hub.
  public init(_ url: HubURL, _ membership: HubMembership) {
    self.init(url, membership, by: SystemTransport())
  }

  package init(
    _ url: HubURL, _ membership: HubMembership, by transport: any HubTransport,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    pause: (@Sendable (Duration) -> Void)? = nil
  ) {
    var client = HubClient(
      url: url, token: membership.token, transport: transport, now: now)
    client.pause = pause ?? client.pause
    (self.client, account) = (client, membership.account)
  }

  /// The path of the account, followed by `rest`.
  func path(_ rest: String) -> String { "/accounts/\(HexNumber.text(account))\(rest)" }

  /// The channel to the hub for one sync.
  package func channel(refused: RefusedRows = RefusedRows()) -> any HubChannel {
    HTTPChannel(hub: self, refused: refused)
  }
}

extension Device {
  /// Merges this device with a hub, both ways; the last writer of each key wins.
  ///
  /// Like a merge with another file, it is safe at any time, and merging again changes nothing. In
  /// the report this device is number 0 and the hub number 1. This device finds the conflicts, and
  /// logs them. The calling thread waits for the network, and, if the hub is busy, up to a minute
  /// before each page.
  ///
  /// - Parameters:
  ///   - hub: the hub, with this device's membership.
  ///   - options: `stores` and `isOneWay` are refused: a hub syncs all stores, both ways.
  /// - Throws: `KeepsakeError`; what was merged until then stays merged, its `mergeReport` has it,
  ///   and merging again continues from there. `retryAfter` is set if the hub is busy.
  @discardableResult
  public func merge(
    with hub: Hub, options: MergeOptions = MergeOptions()
  ) throws(KeepsakeError) -> MergeReport {
    try Merge.run(self, with: hub.channel(), options: options)
  }

  /// Drops old tombstones, like `compact(keeping:)`; the hub drops them too, if it has nothing new
  /// for this device.
  ///
  /// - Parameters:
  ///   - age: how long a tombstone is kept.
  ///   - hub: the hub, with this device's membership.
  /// - Throws: `KeepsakeError`; then the hub may still have them.
  @discardableResult
  public func compact(
    keeping age: Duration = Compaction.defaultAge, with hub: Hub
  ) throws(KeepsakeError) -> Compaction {
    try compact(keeping: age, hubs: [hub.channel()])
  }

  /// Prepares this device for the first merge with another account. First end all sessions with the
  /// old account, in all processes: they would read its values back.
  ///
  /// - Parameter keepsValues: whether the synced stores keep their values, which the new account
  ///   then gets. Otherwise they are emptied: nothing of the old account reaches the new one.
  /// - Throws: `KeepsakeError`; then nothing has changed.
  public func leaveHubs(keepsValues: Bool) throws(KeepsakeError) {
    try forgetHubs(keepsValues: keepsValues)
  }
}
