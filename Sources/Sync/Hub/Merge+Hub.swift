// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeValues

extension Merge {
  /// Syncs a device with a hub. In the report the device is number 0, and the hub number 1.
  ///
  /// - Throws: `KeepsakeError`; with `locked` if other devices have pushed in between each time.
  package static func run(
    _ device: Device, with channel: any HubChannel, options: MergeOptions = MergeOptions()
  ) throws(KeepsakeError) -> MergeReport {
    guard options.stores == nil, !options.isOneWay else {
      // A hub has one mark for all stores.
      throw KeepsakeError(
        .invalidValue, path: channel.name,
        "a hub syncs all stores, both ways", cure: "leave out the stores, or merge with a file")
    }
    try refuseTransaction([device])
    return try reporting([device]) { () throws(KeepsakeError) in
      let account = channel.account
      let cursor = try device.tables.read { try $0.hubs.cursor(of: account) }
      if cursor == HubCursor() { try device.checkPages() }
      let sync = HubSync(device, channel, options: options)
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
}

extension Device {
  /// As `compact(keeping:)`, and lets hubs that the file has read to their end drop the tombstones,
  /// too.
  @discardableResult
  package func compact(
    keeping age: Duration = Compaction.defaultAge, hubs: [any HubChannel]
  ) throws(KeepsakeError) -> Compaction {
    let before = HybridTimestamp(milliseconds: clock.milliseconds - age.milliseconds)
    let deletions = try tables.read { try $0.deletions(before: before) }
    let result = try compact(keeping: age)
    for hub in hubs { try forget(deletions, at: hub) }
    return result
  }

  /// Lets a hub drop deletions that are none of the file's any more, if that has synced with it.
  package func forget(
    _ deletions: [Address], at hub: any HubChannel
  ) throws(KeepsakeError) {
    let account = hub.account
    // A key may have been written since, and deleted anew.
    let (read, dropped) = try tables.read { connection in
      let dropped = try deletions.filter { try connection.numberedEntry(at: $0) == nil }
      return (try connection.hubs.cursor(of: account).read, dropped)
    }
    guard read != HubCursor.beginning, !dropped.isEmpty else { return }
    try hub.forget(dropped, newest: read)
  }

  /// The accounts of hubs that this device has synced with.
  package func hubAccounts() throws(KeepsakeError) -> [Int64] {
    try tables.read { try $0.all("SELECT account FROM hub ORDER BY account") { $0.integer(0) } }
  }

  /// Forgets the accounts of hubs. Unless values are kept, synced stores begin as in a new file.
  package func forgetHubs(keepsValues: Bool) throws(KeepsakeError) {
    try leased { () throws(KeepsakeError) in
      try tables.write { connection in
        for table in ["hub", "hub_held"] { try connection.run("DELETE FROM main.\(table)") }
        guard !keepsValues else { return ((), []) }
        let changes = try connection.emptySyncedStores()
        var replica = try ReplicaState(connection)
        try connection.rename(
          IdentitySource.system.replicaID(), reason: .account, at: clock.milliseconds, &replica)
        return ((), changes)
      }
    }
  }
}

extension Connection {
  /// - Returns: the changes for the observers.
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
