// SPDX-License-Identifier: Apache-2.0
//
// What must not be done: a child that fork has made uses what its parent had open. Not in this
// process, whose other threads may have any lock when it forks.

import Foundation
import KeepsakeDevice
import TestSupport
import Testing

@Suite struct ForkTests {
  /// What the child says and then the parent.
  private func expect(_ what: String, _ lines: String...) throws {
    let folder = try TemporaryFolder()
    let ending = try Command.runProbe(["fork", what, Location.real(folder.path)])
    #expect(ending.code == 0, "\(ending)")
    #expect(ending.stdout.split(separator: "\n").map(String.init) == lines)
  }

  @Test func aForkedChildThatUsesADeviceOfItsParentGetsAnErrorAndTheParentGoesOn() throws {
    try expect(
      "use", "read: forked", "write: forked", "transaction: forked", "child: ended",
      "parent: 1, after, []")
  }

  @Test func aForkedChildThatReleasesADeviceLeavesItsFileAndTheLogsOfOthers() throws {
    try expect("release", "child: ended", "file: there")
    try expect(
      "log", "log: gone", "keepsake-probe: killed", "log: there", "child: ended", "log: there",
      "sum: 5")
  }
}
