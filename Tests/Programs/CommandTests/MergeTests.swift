// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct MergeTests {
  /// Two devices that wrote one key each alone, and one key both; b's was later.
  private let folder: Folder
  private let a, b: String

  init() throws {
    folder = try Folder()
    try folder.must("set", "a", "theme", "dark", Moment.ten.argument)
    try folder.must("set", "b", "theme", "light", Moment.eleven.argument)
    try folder.must("set", "a", "name", "derek", "--store", "cloud:work", Moment.ten.argument)
    try folder.must("set", "b", "own", "b", "--store", "defaults", Moment.ten.argument)
    (a, b) = (try folder.replica("a"), try folder.replica("b"))
  }

  private var report: MergeReport {
    var report = MergeReport([("a", a), ("b", b)])
    report.transfer("b", "a", received: 1, changed: 1, conflicts: 1)
    report.transfer("a", "b", received: 1, changed: 1)
    report.change("a", "cloud", "theme", old: "dark", new: "light", origin: b)
    report.change("b", "cloud:work", "name", old: nil, new: "derek", origin: a)
    return report
  }

  private var emptyReport: MergeReport {
    var report = MergeReport([("a", a), ("b", b)])
    report.transfer("b", "a")
    report.transfer("a", "b")
    return report
  }

  @Test func theLaterWriteWinsAndTheSecondMergeIsAllZeros() throws {
    let merge = ["merge", "a", "b", "--json", Moment.twelve.argument]
    try folder.expect(merge, prints: report.line)
    try folder.expect("get", "a", "theme", prints: "light\n")
    try folder.expect("get", "b", "name", "--store", "cloud:work", prints: "derek\n")
    let own = "kvsync: a: no key \"own\" in store defaults; no other store of this device has it\n"
    try folder.expect("get", "a", "own", "--store", "defaults", says: own, code: 1)
    // The conflict is counted once.
    try folder.expect(merge, prints: emptyReport.line)
    try folder.expect(
      "merge", "a", "b",
      prints: "b -> a: 0 received, 0 changed\na -> b: 0 received, 0 changed\n"
        + "All files hold the same.\n")
    try folder.expect("merge", "b", "a", "--quiet")
  }

  @Test func mergePrintsALineForEachTransferAndChange() throws {
    try folder.expect(
      "merge", "a", "b", Moment.twelve.argument,
      prints: """
        b -> a: 1 received, 1 changed, 1 lost and logged
        a -> b: 1 received, 1 changed
          a  cloud/theme: "dark" -> "light"
          b  cloud:work/name: nothing -> "derek"
          a  cloud/theme: "dark" lost to a later write
        All files hold the same.

        """)
  }

  @Test func aMergeThatFailsPrintsWhatItHasCommitted() throws {
    try folder.must("merge", "a", "b", "c", "--create", Moment.twelve.argument)
    try folder.must("set", "a", "theme", "blue", Moment.twelve.argument)
    try folder.must("set", "b", "theme", "red", Moment(hour: 13).argument)
    try folder.shell(
      "sqlite3", "c",
      """
      INSERT INTO entry SELECT 'cloud', 'large', 6, zeroblob(1048577), 1, id,
        sequence_number + 9 FROM replica
      """)
    let large = "the value of cloud/large has 1048577 bytes, more than the limit of 1048576"
    try folder.expect(
      "merge", "a", "b", "c", Moment(hour: 14).argument,
      prints: """
        b -> a: 1 received, 1 changed, 1 lost and logged
        c -> a: 0 received, 0 changed
          a  cloud/theme: "blue" -> "red"
          a  cloud/theme: "blue" lost to a later write
        The files still differ.

        """, says: "kvsync: c: \(large); set a smaller one, or delete the key\n", code: 65)
  }

  @Test func aDryRunTellsTheSameAndWritesNothing() throws {
    let before = try folder.digests("a", "b")
    let held = [try folder.contents("a"), try folder.contents("b")]
    let merge = ["merge", "a", "b", "--json", Moment.twelve.argument]
    try folder.expect(merge + ["--dry-run"], prints: report.line)
    #expect(try [folder.contents("a"), folder.contents("b")] == held)
    #expect(try folder.digests("a", "b") == before)
    #expect(try folder.names() == ["a", "b"])
    try folder.expect(merge, prints: report.line)
  }

  @Test func aDryRunOfACopyGivesNoNewIdentity() throws {
    try folder.shell("cp", "a", "c")
    let held = try folder.contents("c")
    try folder.must("merge", "a", "c", "--dry-run")
    #expect(try folder.contents("c") == held)
  }

  @Test func threeFilesSyncInTheFirst() throws {
    let folder = try Folder()
    for name in ["a", "b", "c"] { try folder.must("set", name, name, name, Moment.ten.argument) }
    let ids = try ["a", "b", "c"].map { (path: $0, replica: try folder.replica($0)) }
    var report = MergeReport(ids)
    report.transfer("b", "a", received: 1, changed: 1)
    report.transfer("c", "a", received: 1, changed: 1)
    report.transfer("a", "b", received: 2, changed: 2)
    report.transfer("a", "c", received: 2, changed: 2)
    let entries = ids.map { ($0.path, $0.replica) }
    for (into, keys) in [("a", [1]), ("a", [2]), ("b", [0, 2]), ("c", [0, 1])] {
      for key in keys {
        let (name, origin) = entries[key]
        report.change(into, "cloud", name, old: nil, new: name, origin: origin)
      }
    }
    let merge = ["merge", "a", "b", "c", "--json", Moment.eleven.argument]
    try folder.expect(merge, prints: report.line)
    let stores = try ["a", "b", "c"].map(folder.stores)
    #expect(Set(stores).count == 1)
    var again = MergeReport(ids)
    for (from, into) in [("b", "a"), ("c", "a"), ("a", "b"), ("a", "c")] {
      again.transfer(from, into)
    }
    try folder.expect(merge, prints: again.line)
  }

  @Test func oneWayWritesOnlyTheLast() throws {
    try folder.shell("chmod", "444", "a")
    let before = try folder.digests("a")
    var report = MergeReport([("a", a), ("b", b)], converged: false)
    report.transfer("a", "b", received: 2, changed: 1, conflicts: 1)
    report.change("b", "cloud:work", "name", old: nil, new: "derek", origin: a)
    try folder.expect(
      "merge", "a", "b", "--one-way", "--json", Moment.twelve.argument, prints: report.line)
    #expect(try folder.digests("a") == before)
    try folder.expect("get", "a", "theme", prints: "dark\n")
    try folder.expect("get", "b", "name", "--store", "cloud:work", prints: "derek\n")
  }

  @Test func namedStoresAreMergedInsteadOfTheSyncedOnes() throws {
    var report = MergeReport([("a", a), ("b", b)])
    report.transfer("b", "a", received: 1, changed: 1)
    report.transfer("a", "b", received: 1, changed: 1)
    report.change("a", "defaults", "own", old: nil, new: "b", origin: b)
    report.change("b", "cloud:work", "name", old: nil, new: "derek", origin: a)
    try folder.expect(
      "merge", "a", "b", "--store", "defaults", "--store", "cloud:work", "--json",
      Moment.twelve.argument, prints: report.line)
    try folder.expect("get", "a", "theme", prints: "dark\n")
    try folder.expect("get", "b", "theme", prints: "light\n")
  }

  @Test func createMakesAMissingFile() throws {
    let merge = ["merge", "a", "new", "--json", Moment.twelve.argument]
    let missing =
      "kvsync: new: there is no such file; check the path, or let --create make it\n"
    try folder.expect(merge, says: missing, code: 66)
    try folder.must("merge", "a", "new", "--create", "--dry-run")
    #expect(try folder.names() == ["a", "b"])
    let ending = try folder.run(merge + ["--create"])
    var report = MergeReport([("a", a), ("new", try folder.replica("new"))])
    report.transfer("new", "a")
    report.transfer("a", "new", received: 2, changed: 2)
    report.change("new", "cloud", "theme", old: nil, new: "dark", origin: a)
    report.change("new", "cloud:work", "name", old: nil, new: "derek", origin: a)
    #expect(ending == Ending(stdout: report.line))
    #expect(try folder.stores("new") == folder.stores("a"))
  }

  @Test func oneWayMakesOnlyTheLast() throws {
    for options in [["--one-way", "--create"], ["--one-way"]] {
      let ending = try folder.run(["merge", "new", "b"] + options)
      #expect(ending.code == 66 && ending.stdout == "", "\(options) \(ending)")
      #expect(try folder.names() == ["a", "b"])
    }
  }
}
