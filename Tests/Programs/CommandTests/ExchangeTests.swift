// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct ExchangeTests {
  @Test func anEntryFromTheFutureIsHeldUntilItIsDue() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "future", Moment.twelve.argument)
    try folder.must("set", "b", "k", "now", Moment.ten.argument)
    let (a, b) = (try folder.replica("a"), try folder.replica("b"))
    let early = Moment(hour: 10, minute: 1)
    var report = MergeReport([("a", a), ("b", b)], converged: false)
    report.transfer("a", "b", received: 1, held: 1)
    report.transfer("b", "a", received: 1, conflicts: 1)
    try folder.expect("merge", "a", "b", "--json", early.argument, prints: report.line)
    try folder.expect("get", "b", "k", prints: "now\n")

    var waiting = MergeReport([("a", a), ("b", b)], converged: false)
    waiting.transfer("a", "b")
    waiting.transfer("b", "a")
    try folder.expect("merge", "a", "b", "--json", early.argument, prints: waiting.line)
    try folder.expect(
      "merge", "a", "b", early.argument,
      prints: "a -> b: 0 received, 0 changed\nb -> a: 0 received, 0 changed\n"
        + "  b  cloud/k: from the future, held until 2026-11-20T11:55:00.000Z\n"
        + "The files still differ.\n")

    let due = try folder.must("merge", "a", "b", "--json", Moment.twelve.argument)
    #expect(due.hasPrefix(#"{"converged":true,"#))
    try folder.expect("get", "b", "k", prints: "future\n")
    #expect(try folder.stores("a") == folder.stores("b"))
  }

  /// The timestamp is 60 minutes ahead of the receiver's clock.
  @Test(arguments: [("59m", 1), ("60m", 0), ("3600s", 0), ("3599s", 1), ("1d", 0), ("0ms", 1)])
  func theSkewThatIsAllowedIsExact(_ skew: String, held: Int) throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", Moment.eleven.argument)
    let merge = [
      "merge", "a", "b", "--create", "--json", "--max-clock-skew", skew, Moment.ten.argument,
    ]
    let ending = try folder.run(merge)
    let (a, b) = (try folder.replica("a"), try folder.replica("b"))
    var report = MergeReport([("a", a), ("b", b)], converged: held == 0)
    report.transfer("a", "b", received: 1, changed: 1 - held, held: held)
    report.transfer("b", "a")
    if held == 0 { report.change("b", "cloud", "k", old: nil, new: "v", origin: a) }
    #expect(ending == Ending(stdout: report.line))
  }

  @Test func aDueEntryIsReportedAsAChange() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", Moment.twelve.argument)
    try folder.must("merge", "a", "b", "--create", Moment.ten.argument)
    let a = try folder.replica("a")
    let report = try folder.must("merge", "a", "b", "--json", Moment.twelve.argument)
    let change =
      #"{"into":"b","store":"cloud","key":"k","old":null,"#
      + #""new":{"type":"string","value":"v"},"origin":"\#(a)"}"#
    #expect(report.contains(#""changes":[\#(change)],"#), "\(report)")
  }

  @Test func aCopyIsNoticedAndEverythingConverges() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.shell("cp", "a", "b")
    try folder.must("set", "a", "mine", "a", Moment.eleven.argument)
    try folder.must("set", "b", "yours", "b", Moment.twelve.argument)
    let a = try folder.replica("a")
    #expect(try folder.replica("b") == a)
    let ending = try folder.run(["merge", "a", "b", "--json", Moment.twelve.argument])
    let b = try folder.replica("b")
    #expect(b != a)
    #expect(try folder.replica("a") == a)
    var report = MergeReport([("a", a), ("b", b)])
    report.transfer("a", "b", received: 2, changed: 1)
    report.transfer("b", "a", received: 2, changed: 1)
    report.change("b", "cloud", "mine", old: nil, new: "a", origin: a)
    report.change("a", "cloud", "yours", old: nil, new: "b", origin: a)
    report.clone("b")
    #expect(ending == Ending(stdout: report.line))
    #expect(try folder.stores("a") == folder.stores("b"))
    var again = MergeReport([("a", a), ("b", b)])
    again.transfer("a", "b")
    again.transfer("b", "a")
    try folder.expect("merge", "a", "b", "--json", Moment.twelve.argument, prints: again.line)
  }

  @Test func aCopyOfAFileThatHasMetOthersConvergesWithAll() throws {
    let folder = try Folder()
    for name in ["a", "b"] { try folder.must("set", name, name, "1", Moment.ten.argument) }
    try folder.must("merge", "a", "b", Moment.ten.argument)
    try folder.shell("cp", "b", "c")
    for name in ["b", "c"] { try folder.must("set", name, name, "2", Moment.eleven.argument) }
    try folder.must("merge", "a", "b", Moment.eleven.argument)
    let report = try folder.must("merge", "a", "c", "--json", Moment.eleven.argument)
    #expect(report.contains(#""events":[{"kind":"cloneDetected","path":"c"}]}"#))
    let all = try folder.must("merge", "a", "b", "c", "--json", Moment.eleven.argument)
    #expect(all.hasPrefix(#"{"converged":true,"#) && all.hasSuffix("\"events\":[]}\n"), "\(all)")
    #expect(try Set(["a", "b", "c"].map(folder.stores)).count == 1)
  }

  @Test func aRestoredBackupGetsBackWhatItWroteLater() throws {
    let folder = try Folder()
    try folder.must("set", "a", "old", "1", Moment.ten.argument)
    try folder.must("merge", "a", "b", "--create", Moment.ten.argument)
    try folder.shell("cp", "a", "backup")
    try folder.must("set", "a", "new", "2", Moment.eleven.argument)
    try folder.must("merge", "a", "b", Moment.eleven.argument)
    try folder.shell("mv", "backup", "a")
    let report = try folder.must("merge", "a", "b", "--json", Moment.twelve.argument)
    #expect(report.contains(#"{"kind":"cloneDetected","path":"a"}"#), "\(report)")
    try folder.expect("get", "a", "new", prints: "2\n")
    #expect(try folder.stores("a") == folder.stores("b"))
  }

  @Test func theChangesAreCutAtAThousandUnlessAllAreWanted() throws {
    let folder = try Folder()
    let lines = (0..<1001).map {
      #"{"key":"key\#(1000 + $0)","type":"string","value":"\#($0)"}"# + "\n"
    }
    try folder.write(lines.joined(), to: "in")
    try folder.expect(
      "import", "a", "in", Moment.ten.argument, prints: "1001 imported, 1001 changed\n")
    let a = try folder.replica("a")
    for (file, extra, count) in [("b", [], 1000), ("c", ["--all-changes"], 1001)] {
      let merge = ["merge", "a", file, "--create", "--json", Moment.ten.argument] + extra
      let ending = try folder.run(merge)
      var report = MergeReport([("a", a), (file, try folder.replica(file))])
      report.transfer("a", file, received: 1001, changed: 1001)
      report.transfer(file, "a")
      for number in 0..<count {
        report.change(file, "cloud", "key\(1000 + number)", old: nil, new: "\(number)", origin: a)
      }
      if extra.isEmpty { report.truncated() }
      #expect(ending == Ending(stdout: report.line))
    }
    let text = try folder.must("merge", "a", "d", "--create", Moment.ten.argument)
    #expect(
      text.hasSuffix(
        """
          … and 1 more; --all-changes lists them
        d: 1001 changed
        All files hold the same.

        """), "\(text.suffix(200))")
  }

  @Test func aLongListOfChangesIsSummedUpForEachFile() throws {
    let folder = try Folder()
    for number in 0..<6 {
      try folder.must("set", "a", "new\(number)", "x", Moment.ten.argument)
      try folder.must("set", "b", "both\(number)", "x", Moment.ten.argument)
    }
    try folder.must("merge", "a", "b", Moment.ten.argument)
    for number in 0..<6 {
      try folder.must("set", "a", "both\(number)", "y", Moment.eleven.argument)
      try folder.must("delete", "a", "new\(number)", Moment.eleven.argument)
    }
    try folder.must("set", "b", "both0", "z", Moment.ten.argument)
    let text = try folder.must("merge", "a", "b", Moment.twelve.argument)
    #expect(
      text.hasSuffix(
        """
        b: 6 overwritten, 6 deleted, 1 lost: kvsync conflicts b
        All files hold the same.

        """), "\(text)")
  }
}
