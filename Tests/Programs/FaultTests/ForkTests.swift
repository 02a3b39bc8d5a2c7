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
    let path = Location.real(folder.path)
    let ending = try Command.runProbe(["fork", what, path])
    #expect(ending.code == 0, "\(ending)")
    let said = ending.stdout.replacing(path + "/", with: "").split(separator: "\n").map(String.init)
    #expect(said == lines)
  }

  @Test func aChildThatUsesADeviceOfItsParentsIsToldSoAndTheParentGoesOn() throws {
    try expect(
      "use", "parent: 1",
      "property: 0, cloud/count: the setting could not be read: a.keepsake: the parent of this "
        + "process had it open when it called fork; let the child be a program of its own, or "
        + "open the file only after the fork",
      "read: inherited", "write: inherited", "transaction: inherited", "merge: inherited",
      "backup: inherited", "synchronize: inherited", "child: ended", "parent: 1, after, []",
      "kvsync: 0", "observer: heard")
  }

  @Test func aChildThatObservesWaitsForNoThreadOfItsParents() throws {
    try expect("observe", "parent: over")
  }

  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["KEEPSAKE_SANITIZER"] != "thread",
      "the thread sanitizer lets no child start threads, as these do"))
  func aChildWaitsForNoReaderOfItsParentsAndForNoLockOfTheirs() throws {
    try expect("read", "parent: over")
  }

  @Test func aChildOpensFilesThatItsParentHadNotOpenAndNoOthers() throws {
    try expect(
      "open", "open: inherited", "open to read: inherited", "open: inherited",
      "open to read: inherited", "own file: 7, []", "child: ended")
  }

  @Test func aChildThatReleasesADeviceLeavesItsFileAndTheLogsOfOthers() throws {
    try expect("release", "child: ended", "file: there")
    try expect(
      "log", "log: gone", "keepsake-probe: killed", "log: there", "child: ended", "log: there",
      "sum: 5")
  }

  @Test func aChildThatIsMadeWithinATransactionNeitherCommitsNorRollsBack() throws {
    try expect(
      "transaction", "write: inherited", "its end: inherited", "child: ended", "parent: 50",
      "kvsync: 0")
  }

  @Test func aChildThatIsMadeWithinAMergeLeavesItsLease() throws {
    try expect(
      "merge", "merge by another thread: inherited", "merge: inherited", "child: ended",
      "lease: there", "parent: converged")
  }

  @Test func aChildDoesNotWaitForWhatItsParentDoesInTheBackground() throws {
    try expect("end", "child: ended", "at once: true")
  }
}
