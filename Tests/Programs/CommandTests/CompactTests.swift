// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct CompactTests {
  @Test func deletionsThatAllHaveReadAreCollectedWhenTheyAreOld() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.must("delete", "a", "k", Moment.ten.argument)
    try folder.must("merge", "a", "b", "--create", Moment.ten.argument)
    for file in ["a", "b"] { try folder.must("compact", file, Moment.ten.argument) }
    let size = try #require(
      try folder.url("a").resourceValues(forKeys: [.fileSizeKey]).fileSize)
    let sizes = "\(size) bytes before, \(size) after\n"
    try folder.expect(
      "compact", "a", "--at", "2027-02-01",
      prints: "0 deletions collected, 1 waiting; \(sizes)")
    try folder.expect(
      "compact", "a", "--at", "2027-03-01",
      prints: "1 deletion collected, 0 waiting; \(sizes)")
    try folder.expect(
      "compact", "b", "--keep", "1d", "--at", "2026-11-22", "--json",
      prints: #"{"collected":1,"waiting":0,"retired":[],"bytesBefore":\#(size),"#
        + #""bytesAfter":\#(size)}"# + "\n")
    #expect(try !folder.contents("a").contains(#""deleted""#))
    try folder.expect("diff", "a", "b")
  }

  @Test func aPeerThatIsAwayForHalfAYearIsReportedAndRetired() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.must("merge", "a", "b", "--create", Moment.ten.argument)
    let b = try folder.replica("b")
    let away =
      "peer: device \(b) was not met for more than 180 days; "
      + "meet it, or let kvsync compact retire it: deletions are kept for it\n"
    try folder.expectDoctor("a", "--at", "2027-06-01", prints: away, code: 1)
    let compacted = try folder.must("compact", "a", "--at", "2027-06-01")
    #expect(compacted.hasPrefix("\(b) was not met for 180 days and is retired\n"))
    try folder.expectDoctor("a", "--at", "2027-06-01", prints: "a: nothing is wrong\n")
  }

  @Test func spaceThatIsNotUsedIsGivenBack() throws {
    let folder = try Folder()
    let value = String(repeating: "x", count: 100_000)
    try folder.write(
      #"{"store":"defaults","key":"k","type":"string","value":"\#(value)"}"#, to: "in")
    try folder.must("import", "a", "in")
    try folder.must("delete", "a", "k", "--store", "defaults")
    let report = try JSON(parsing: try folder.must("compact", "a", "--json"))
    guard case .integer(let before)? = report["bytesBefore"],
      case .integer(let after)? = report["bytesAfter"]
    else { throw Command.Missing(description: "no sizes") }
    #expect(before > 100_000 && after < 40_000)
    #expect(
      try folder.url("a").resourceValues(forKeys: [.fileSizeKey]).fileSize == Int(after))
  }

  /// One grave may begin a page where one deletion leaves none.
  @Test func aCompactionThatMakesTheFileLargerSaysWhy() throws {
    let folder = try Folder()
    let key = { (number: Int) in String(repeating: "k", count: 100) + "\(number)" }
    let lines = (10..<40).map { #"{"key":"\#(key($0))","type":"integer","value":1}"# + "\n" }
    try folder.write(lines.joined(), to: "in")
    try folder.must("import", "a", "in", Moment.ten.argument)
    let compact = ["compact", "a", "--keep", "0s", Moment.eleven.argument]
    let growth =
      "of each deletion a grave is kept, and these took more pages than the deletions left"
    for number in 10..<18 {
      try folder.must("delete", "a", key(number), Moment.ten.argument)
      let told = try folder.run(compact).stdout
      let sizes = try #require(told.firstMatch(of: /(\d+) bytes before, (\d+) after(.*)\n/))
      let hasGrown = try #require(Int(sizes.2)) > #require(Int(sizes.1))
      // Seven of these fill a page.
      #expect(hasGrown == (number == 17), "\(told)")
      #expect(sizes.3 == (hasGrown ? ": \(growth)" : ""))
    }
    #expect(try !folder.run(compact).stdout.contains(growth))
  }
}
