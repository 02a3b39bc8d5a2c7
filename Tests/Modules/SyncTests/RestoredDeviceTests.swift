// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// Files that were restored, copied or renamed, together with compaction and the conflict log.
@Suite struct RestoredDeviceTests: DeviceFileSuite {
  let folder: TemporaryFolder
  let clock: ManualClock

  private static let day: Int64 = 86_400_000

  /// What `cp` does of a file that no program has open.
  private func copy(_ name: String, over other: String) throws {
    if FileManager.default.fileExists(atPath: path(other)) {
      try FileManager.default.removeItem(atPath: path(other))
    }
    try FileManager.default.copyItem(atPath: path(name), toPath: path(other))
  }

  private func lost(_ name: String) throws -> [StoredValue?] {
    try open(name).conflicts().map(\.lost)
  }

  // MARK: - Collection

  @Test func aWriteThatARestoredDeviceHasLostIsNotDeletedByItsCollection() throws {
    try set("r", "kept", 1)
    try copy("r", over: "backup")
    try set("r", "precious", 1)
    try merge("r", "d")
    try merge("d", "c")
    try copy("backup", over: "r")
    try set("r", "ordinary", 1)
    try set("r", "ordinary", nil)
    clock.milliseconds += 400 * Self.day
    #expect(try open("r").compact().dropped == 1)
    try merge("c", "r")
    for _ in 0..<2 { try merge("r", "d", "c") }
    for name in ["c", "d", "r"] { #expect(try values(name) == ["kept": 1, "precious": 1]) }
    #expect(try lost("r").isEmpty)
  }

  @Test(arguments: [false, true])
  func aWriteOfACopyThatIsInUseIsNotDeletedByItsTwin(twinCollects: Bool) throws {
    try set("r", "kept", 1)
    try copy("r", over: "twin")
    try set("twin", "precious", 1)
    try merge("twin", "neutral")
    let collector = twinCollects ? "twin" : "r"
    try set("r", "ordinary", 1)
    try set("r", "ordinary", nil)
    try set("twin", "another", nil)
    clock.milliseconds += 400 * Self.day
    #expect(try open(collector).compact().dropped == 1)
    try merge("neutral", "r")
    try merge("neutral", "twin")
    for name in ["neutral", "twin"] {
      #expect(try values(name) == ["kept": 1, "precious": 1])
    }
  }

  // MARK: - Conflicts

  @Test func writesOfOneDeviceAreNoConflictAlthoughItWasRenamedInBetween() throws {
    try set("r", "k", "v1")
    try merge("r", "d")
    try copy("r", over: "backup")
    try set("r", "unrelated", 1)
    try merge("r", "d")
    try copy("backup", over: "r")
    #expect(try merge("d", "r").events == [.newReplicaID(device: 1, reason: .copy)])
    try set("r", "k", "v2")
    try merge("r", "c")
    #expect(try merge("c", "d").conflicts.isEmpty)
    #expect(try values("d")["k"] == "v2")
  }

  @Test func aCloneDoesNotTakeOverTheConflictsOfItsOriginal() throws {
    try set("a", "k", "lost")
    try set("b", "k", "won")
    try merge("a", "b")
    #expect(try lost("a") == ["lost"])
    try open("a").clone(to: path("clone"))
    #expect(try lost("clone").isEmpty)
  }
}
