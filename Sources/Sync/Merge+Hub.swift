// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
import KeepsakeValues

extension Merge {
  /// Syncs a device with a hub. In the report the device is number 0, and the hub number 1.
  ///
  /// - Throws: `KeepsakeError`; with `locked` if other devices have pushed in between each time.
  package static func run(
    _ device: Device, with channel: any HubChannel, options: MergeOptions = MergeOptions(),
    pageSize: Int = 1_000, source: IdentitySource = .system, hooks: MergeHooks = MergeHooks()
  ) throws(KeepsakeError) -> MergeReport {
    try refuseOptions(options, channel)
    try refuseTransaction([device])
    return try reporting([device]) { () throws(KeepsakeError) in
      let account = channel.account
      let isFirst = try device.core.read { try !$0.hubs.contains(account) }
      if isFirst { try device.checkPages() }
      let sync = HubSync(
        device, channel, options: options, pageSize: pageSize, source: source, hooks: hooks)
      do throws(KeepsakeError) {
        guard try sync.run() else {
          throw KeepsakeError(
            .locked, path: channel.name, "other devices have synced in between each time",
            cure: "try again")
        }
      } catch {
        throw error.after(sync.report)
      }
      return sync.report
    }
  }

  /// A hub has one vector for all stores, so it cannot be synced in part.
  private static func refuseOptions(
    _ options: MergeOptions, _ channel: any HubChannel
  ) throws(KeepsakeError) {
    guard options.stores == nil, !options.isOneWay else {
      throw KeepsakeError(
        .invalidValue, path: channel.name,
        "a hub syncs all stores, both ways", cure: "leave out the stores, or merge with a file")
    }
  }
}

extension Device {
  /// The accounts of hubs that this device has synced with.
  package func hubAccounts() throws(KeepsakeError) -> [Int64] {
    try core.read { try $0.all("SELECT account FROM hub ORDER BY account") { $0.integer(0) } }
  }

  /// Prepares for the first sync with another account of a hub.
  ///
  /// - Parameter keepsValues: otherwise the synced stores begin empty, as in a new file: nothing of
  ///   the old account reaches the new one.
  package func leaveHubs(
    keepsValues: Bool, source: IdentitySource = .system
  ) throws(KeepsakeError) {
    try leased { () throws(KeepsakeError) in
      try core.write { connection in
        for table in ["hub", "hub_held"] { try connection.run("DELETE FROM main.\(table)") }
        guard !keepsValues else { return ((), []) }
        let changes = try connection.emptySyncedStores()
        var replica = try ReplicaState(connection)
        try connection.rename(
          source.replicaID(), reason: .account, at: clock.milliseconds, &replica)
        return ((), changes)
      }
    }
  }
}

extension Connection {
  /// - Returns: what observers are sent.
  fileprivate func emptySyncedStores() throws -> [SettingChange] {
    let replica = try ReplicaState(self)
    let changes = try all(
      "SELECT store, key, type, value FROM entry WHERE type <> 0 AND \(Self.isSynced("store"))"
    ) {
      SettingChange(
        store: $0.text(0), key: $0.text(1), from: $0.content(2), to: .tombstone,
        writer: replica.id, timestamp: replica.last, reason: .local)
    }
    try replica.save(self)
    try entries.emptySyncedStores()
    for table in ["mark", "peer", "seen", "forgotten"] { try run("DELETE FROM main.\(table)") }
    try conflictLog.clear()
    return changes
  }
}
