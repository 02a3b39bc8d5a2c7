// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// Files that wrote beside a twin: no conflict is lost.
@Suite struct TwinTests: DeviceFileSuite {
  let folder: TemporaryFolder
  let clock: ManualClock

  @discardableResult
  private func mergeOneWay(_ names: String..., marks: Bool = true) throws -> MergeReport {
    var options = MergeOptions(isOneWay: true)
    options.marksSources = marks
    return try Merge.run(names.map(open), options: options)
  }

  private func losers(_ names: String...) throws -> [StoredValue?] {
    try names.flatMap { try open($0).conflicts().map(\.lost) }
  }

  /// Twice, as if all marks but the last had been dropped.
  private func sync(_ name: String, aThousandTimesWith other: String) throws {
    for number in Int64(2)..<4 {
      try set(name, "slider", .integer(number))
      try merge(name, other)
    }
    try open(name).execute(
      "UPDATE replica SET trimmed = (SELECT max(sequence_number) FROM mark) - 1",
      "DELETE FROM mark WHERE sequence_number <= (SELECT trimmed FROM replica)")
  }

  @Test func aTwinIsFoundThoughItsMarkIsOlderThanThoseThatTheFileKeeps() throws {
    try set("a", "j", 0)
    try merge("a", "other")
    try copy("a", to: "twin")
    try set("a", "k", "of a")
    try set("peer", "k", "of the peer")
    try set("twin", "j", 1)
    try merge("twin", "peer")
    try sync("a", aThousandTimesWith: "other")
    let report = try merge("a", "peer")
    #expect(report.events.contains(.newReplicaID(device: 0, reason: .copy)))
    #expect(try losers("a", "peer").contains("of a"))
  }

  @Test func aSourceKeepsTheMarkThatAOneWayMergeHasNoted() throws {
    try set("a", "k", 1)
    try mergeOneWay("a", "b")
    let noted = try open("b").tables.read { connection in
      try connection.all("SELECT cursor_bits FROM peer") { $0.integer(0) }
    }
    let kept = try open("a").tables.read { connection in
      try connection.all("SELECT own_bits FROM peer") { $0.integer(0) }
    }
    #expect(noted == kept && noted.count == 1)
    #expect(try open("a").syncState(of: "cloud") == .neverSynced)
  }

  @Test func aSecondSourceIsComparedWithWhatTheFirstHasBrought() throws {
    try set("s1", "x", 0)
    try mergeOneWay("s1", "t")
    try copy("s1", to: "s2")
    try set("s2", "k", "of s2")
    try set("t", "k", "of t")
    try set("s1", "j", 1)
    let report = try mergeOneWay("s1", "s2", "t")
    #expect(report.events == [.newReplicaID(device: 1, reason: .copy)])
    #expect(try losers("t") == ["of s2"])
  }

  @Test func aSourceThatWasSetBackAndIsOnlyReadLosesNoConflict() throws {
    try set("a", "j", 1)
    try mergeOneWay("a", "b")
    try copy("a", to: "backup")
    try set("backup", "k", "of the backup")
    try set("b", "k", "of b")
    try set("a", "j", 2)
    try mergeOneWay("a", "b")
    for _ in 0..<2 { try mergeOneWay("backup", "b", marks: false) }
    #expect(try losers("b").filter { $0 == "of the backup" }.count == 1)
  }

  /// The backup is written elsewhere, and read again: a vector of its twin must not hide that.
  @Test func aSourceThatWasSetBackAndIsOnlyReadIsDoubtedEachTime() throws {
    try set("a", "j", 1)
    try mergeOneWay("a", "b")
    try copy("a", to: "backup")
    try mergeOneWay("backup", "b", marks: false)
    try set("backup", "k", "of the backup")
    try set("b", "k", "of b")
    try set("a", "j", 2)
    try mergeOneWay("a", "b")
    for _ in 0..<2 { try mergeOneWay("backup", "b", marks: false) }
    try set("backup", "l", "of the backup")
    try set("b", "l", "of b")
    try set("a", "j", 3)
    try mergeOneWay("a", "b")
    try mergeOneWay("backup", "b", marks: false)
    #expect(try losers("b") == ["of the backup", "of the backup"])
  }

  @Test func aSourceThatWasSetBackAndGoesOnIsDoubtedAgain() throws {
    try set("a", "j", 1)
    try mergeOneWay("a", "b")
    try copy("a", to: "backup")
    clock.milliseconds += 200_000
    try set("a", "j", 2)
    try mergeOneWay("a", "b")
    try mergeOneWay("backup", "b", marks: false)
    clock.milliseconds -= 100_000
    try set("backup", "k", "of the backup")
    clock.milliseconds += 50_000
    try set("b", "k", "of b")
    try mergeOneWay("backup", "b", marks: false)
    #expect(try losers("b") == ["of the backup"])
  }

  @Test func aSourceThatWasSetBackDoesNotMakeItsTwinsWritesKnown() throws {
    try set("a", "j", 1)
    try mergeOneWay("a", "b")
    try copy("a", to: "backup")
    try set("a", "j", 2)
    try mergeOneWay("a", "b")
    try set("a", "k", "of a")
    try set("backup", "l", "of the backup")
    try mergeOneWay("backup", "b", marks: false)
    try set("b", "k", "of b")
    try merge("a", "b")
    #expect(try losers("a", "b") == ["of a"])
  }

  @Test func aFileKeepsItsIDWhenItSyncsWithACloneAThousandMarksLater() throws {
    try set("a", "k", 1)
    try merge("a", "peer")
    try open("peer").clone(to: path("clone"))
    try sync("a", aThousandTimesWith: "peer")
    #expect(try !merge("a", "clone").events.contains(.newReplicaID(device: 0, reason: .copy)))
    #expect(try open("a").formerReplicas().isEmpty)
  }

  @Test func eachOfThreeFilesIsComparedWithEachOther() throws {
    try set("c", "j", 0)
    try merge("c", "b")
    try copy("c", to: "twin")
    try set("c", "k", "of c")
    try set("b", "k", "of b")
    try set("twin", "j", 1)
    try merge("twin", "b")
    let report = try merge("a", "b", "c")
    #expect(report.events == [.newReplicaID(device: 2, reason: .copy)])
    #expect(try losers("a", "b", "c") == ["of c"])
  }
}
