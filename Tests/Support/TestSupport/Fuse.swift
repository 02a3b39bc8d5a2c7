// SPDX-License-Identifier: Apache-2.0
//
// A crash in the middle of an exchange: SQLite's own commit hook refuses one commit, counted over
// all devices that meet, so that what was committed before is there and nothing else is
// (https://www.sqlite.org/c3ref/commit_hook.html).

import CSQLite
package import KeepsakeDevice

package final class Fuse {
  private var commits: Int

  /// - Parameter commits: how many still succeed.
  package init(_ commits: Int) {
    self.commits = commits
  }

  package var isBlown: Bool { commits < 0 }

  private func mayCommit() -> Bool {
    commits -= commits < 0 ? 0 : 1
    return commits >= 0
  }

  /// It has to outlive what it is attached to, or be detached.
  package func attach(to device: Device) throws {
    let me = Unmanaged.passUnretained(self).toOpaque()
    try device.tables.access { connection in
      _ = sqlite3_commit_hook(
        connection.handle,
        { fuse in
          guard let fuse else { return 0 }
          return Unmanaged<Fuse>.fromOpaque(fuse).takeUnretainedValue().mayCommit() ? 0 : 1
        }, me)
    }
  }

  package func detach(from device: Device) throws {
    try device.tables.access { _ = sqlite3_commit_hook($0.handle, nil, nil) }
  }
}
