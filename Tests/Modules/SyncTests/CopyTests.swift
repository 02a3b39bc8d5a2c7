// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct CopyTests: DeviceFileSuite {
  let folder: TemporaryFolder
  let clock: ManualClock

  @Test func aCopyIsFoundByAThirdDeviceThatMergedWithTheOriginal() throws {
    try set("a", "k", 1)
    _ = try merge("a", "b")
    try copy("a", to: "copy")
    try set("a", "a", 1)
    _ = try merge("a", "b")
    for index in 0..<5 { try set("copy", "c\(index)", 1) }
    let report = try merge("copy", "b")
    #expect(report.events == [.newReplicaID(device: 0, reason: .copy)])
    #expect(try open("b").keys() == ["a", "c0", "c1", "c2", "c3", "c4", "k"])
    #expect(try open("copy").keys() == open("b").keys())
    #expect(try merge("a", "b", "copy").events.isEmpty)
    #expect(try open("a").keys() == open("b").keys())
  }

  @Test func aRestoredBackupIsFoundAndLosesNothingThatOthersHave() throws {
    try set("a", "k", 1)
    _ = try merge("a", "b")
    try copy("a", to: "backup")
    try set("a", "late", 1)
    _ = try merge("a", "b")
    try copy("backup", to: "a")
    try set("a", "after", 1)
    try set("a", "after2", 1)
    let report = try merge("b", "a")
    #expect(report.events == [.newReplicaID(device: 1, reason: .copy)])
    #expect(try open("a").keys() == ["after", "after2", "k", "late"])
    #expect(try open("b").keys() == open("a").keys())
  }

  @Test func twoCopiesThatBothWentOnBothGetNewNames() throws {
    _ = try merge("a", "b")
    for name in ["a", "b"] { try copy(name, to: name + "2") }
    try set("a", "1", 1)
    try set("b2", "2", 1)
    _ = try merge("a", "b")
    _ = try merge("a2", "b2")
    let report = try merge("a", "b2")
    #expect(Set(report.events.map { "\($0)" }).count == 2)
    _ = try merge("a", "b", "a2", "b2")
    _ = try merge("a", "b", "a2", "b2")
    for name in ["a", "b", "a2", "b2"] { #expect(try open(name).keys() == ["1", "2"]) }
  }

  /// Merges row by row.
  ///
  /// - Parameter photograph: makes the file `photo`, when the first row has arrived in `b`.
  private func merge(
    _ a: Device, _ b: Device, photograph: @escaping @Sendable (String) throws -> Void
  ) throws {
    let photo = path("photo")
    let observation = b.observe { _ in
      guard !FileManager.default.fileExists(atPath: photo) else { return }
      #expect(throws: Never.self) { try photograph(photo) }
    } onFailure: {
      Issue.record($0)
    }
    try a.merge(with: b, options: MergeOptions(chunkSize: 1))
    observation.cancel()
  }

  @Test func aCopyFromTheMiddleOfAnExchangeIsNotReadFromWhereTheExchangeEnded() throws {
    for index in 0..<20 { try set("a", "k\(index)", 1) }
    let (a, b) = (try open("a"), try open("b"))
    try merge(a, b) { try b.backUp(to: $0) }
    try copy("photo", to: "restored")
    for index in 0..<40 { try set("restored", "new\(index)", 1) }
    _ = try merge("a", "restored")
    #expect(try open("a").keys().count == 60)
    #expect(try open("restored").keys().count == 60)
  }

  @Test func whatIsWrittenDuringAMergeIsNotReadUnderItsMark() throws {
    for index in 0..<3 { try set("a", "k\(index)", 1) }
    let (a, b) = (try open("a"), try open("b"))
    try merge(a, b) {
      // The copy has the mark, and not what is written now.
      try a.backUp(to: $0)
      try a.write([LocalWrite(store: "cloud", key: "during", value: 1)])
    }
    try copy("photo", to: "restored")
    for index in 0..<3 { try set("restored", "new\(index)", 1) }
    _ = try merge("restored", "b")
    #expect(try open("b").keys().filter { $0.hasPrefix("new") } == ["new0", "new1", "new2"])
    _ = try merge("a", "b")
    #expect(try open("b").keys().contains("during"))
  }

  @Test func oneWayFromReadOnlyMediaTakesAllAndWritesNothingThere() throws {
    try set("source", "k", 1)
    try set("target", "t", 1)
    let before = try Command.run(Command.find("sha256sum"), [path("source")]).stdout
    for round in 0..<2 {
      let devices = [
        try Device(path: path("source"), access: .readOnly, clock: clock.wallClock),
        try open("target"),
      ]
      let report = try Merge.run(
        devices, options: MergeOptions(isOneWay: true))
      #expect(report.transfers.map(\.changed) == [round == 0 ? 1 : 0])
      #expect(!report.hasConverged, "the source lacks t")
      #expect(report.events.isEmpty)
    }
    #expect(try open("target").keys() == ["k", "t"])
    #expect(try open("source").keys() == ["k"])
    #expect(try Command.run(Command.find("sha256sum"), [path("source")]).stdout == before)
  }
}
