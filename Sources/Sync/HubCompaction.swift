// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeValues

extension Device {
  /// As `compact(keeping:)`, and lets hubs that the file has read to their end drop the tombstones,
  /// too.
  @discardableResult
  package func compact(
    keeping age: Duration = Compaction.defaultAge, hubs: [any HubChannel]
  ) throws(KeepsakeError) -> Compaction {
    let before = HybridTimestamp(milliseconds: clock.milliseconds - age.milliseconds)
    let deletions = try core.read { try $0.deletions(before: before) }
    let result = try compact(keeping: age)
    for hub in hubs { try forget(deletions, at: hub) }
    return result
  }

  /// Lets a hub drop deletions, if the file has synced with it.
  package func forget(
    _ deletions: [Address], at hub: any HubChannel
  ) throws(KeepsakeError) {
    let account = hub.account
    let cursor = try core.read { connection in
      try connection.hubs.contains(account) ? try connection.hubs.cursor(of: account) : nil
    }
    guard let cursor, !deletions.isEmpty else { return }
    try hub.forget(deletions, newest: cursor.read)
  }
}
