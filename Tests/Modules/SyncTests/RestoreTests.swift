// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// Restored backups, clones, and what others make of them.
@Suite struct RestoreTests: DeviceFileSuite {
  let folder: TemporaryFolder
  let clock: ManualClock

  /// `a` and `b` share k; a backup of `a` is made, and `a` writes on.
  private func backUp() throws {
    try set("a", "k", "old")
    _ = try merge("a", "b")
    try open("a").backup(to: url("backup"))
    try set("a", "k", "new")
    try set("a", "added", 1)
    _ = try merge("a", "b")
  }

  @Test func aRestoredBackupHasANewReplicaIDAtOnceAndNewerWritesOfOthersWin() throws {
    try backUp()
    let before = try open("a").replica()
    try Device.restore(at: url("a"), from: url("backup"), clock: clock.wallClock)
    #expect(try open("a").replica() != before)
    #expect(try open("a").formerReplicas().map(\.id) == [before])
    #expect(try open("a").formerReplicas().map(\.reason) == [.restore])
    try set("a", "after", 1)
    let report = try merge("a", "b")
    #expect(report.events.isEmpty && report.conflicts.isEmpty && report.hasConverged)
    #expect(try values("a") == ["k": "new", "added": 1, "after": 1])
    #expect(try values("b") == values("a"))
  }

  @Test func aBackupThatIsWrittenAsNewWins() throws {
    try backUp()
    clock.milliseconds += 1
    #expect(try open("a").writeAsNew(open("backup")) == 2)
    let report = try merge("a", "b")
    #expect(report.hasConverged && report.conflicts.isEmpty)
    for name in ["a", "b"] { #expect(try values(name) == ["k": "old"]) }
  }

  @Test func aCloneHasAReplicaIDOfItsOwnAndSyncsWithoutAnEvent() throws {
    try backUp()
    try open("a").clone(to: url("clone").path)
    #expect(try open("clone").formerReplicas().map(\.reason) == [.clone])
    try set("clone", "mine", 1)
    try set("a", "yours", 1)
    let report = try merge("clone", "a")
    #expect(report.events.isEmpty && report.conflicts.isEmpty && report.hasConverged)
    // Nobody knows the new ID, so each is read in full.
    #expect(report.transfers.map(\.changed) == [1, 1])
    #expect(try values("clone") == values("a"))
  }
}
