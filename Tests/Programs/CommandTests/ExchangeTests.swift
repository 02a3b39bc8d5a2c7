// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct ExchangeTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  @Test func anEntryFromTheFutureWaitsUntilItIsDue() throws {
    try folder.must("set", "a", "k", "future", Moment.twelve.argument)
    try folder.must("set", "b", "k", "now", Moment.ten.argument)
    let (a, b) = (try folder.replica("a"), try folder.replica("b"))
    let early = Moment(hour: 10, minute: 1)
    var report = MergeReport([("a", a), ("b", b)], converged: false)
    report.transfer("b", "a", received: 1, conflicts: 1)
    report.transfer("a", "b", received: 1, waiting: 1)
    try folder.expect("merge", "a", "b", "--json", early.argument, prints: report.line)
    try folder.expect("get", "b", "k", prints: "now\n")

    var waiting = MergeReport([("a", a), ("b", b)], converged: false)
    waiting.transfer("b", "a")
    waiting.transfer("a", "b", received: 1, waiting: 1)
    try folder.expect("merge", "a", "b", "--json", early.argument, prints: waiting.line)
    try folder.expect(
      "merge", "a", "b", early.argument,
      prints: "b -> a: 0 received, 0 changed\n"
        + "a -> b: 1 received, 0 changed, 1 waiting, from the future\n"
        + "  b  cloud/k: from the future, waits until 2026-11-20T11:55:00.000Z\n"
        + "The files still differ.\n")

    let due = try folder.must("merge", "a", "b", "--json", Moment.twelve.argument)
    #expect(due.hasPrefix(#"{"converged":true,"#) && due.contains(#""into":"b","store":"cloud","#))
    try folder.expect("get", "b", "k", prints: "future\n")
    #expect(try folder.stores("a") == folder.stores("b"))
  }

  /// The timestamp is 60 minutes ahead of the receiver's clock.
  @Test(arguments: [("59m", 1), ("60m", 0), ("3600s", 0), ("3599s", 1), ("1d", 0), ("0ms", 1)])
  func theSkewThatIsAllowedIsExact(_ skew: String, waiting: Int) throws {
    try folder.must("set", "a", "k", "v", Moment.eleven.argument)
    let merge = [
      "merge", "a", "b", "--create", "--json", "--max-clock-skew", skew, Moment.ten.argument,
    ]
    let ending = try folder.run(merge)
    let (a, b) = (try folder.replica("a"), try folder.replica("b"))
    var report = MergeReport([("a", a), ("b", b)], converged: waiting == 0)
    report.transfer("b", "a")
    report.transfer("a", "b", received: 1, changed: 1 - waiting, waiting: waiting)
    if waiting == 0 { report.change("b", "cloud", "k", old: nil, new: "v", origin: a) }
    #expect(ending == Ending(stdout: report.line))
  }

  @Test func aCopyIsNoticedAndEverythingConverges() throws {
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
    report.transfer("b", "a", received: 2, changed: 1)
    report.transfer("a", "b", received: 2, changed: 1)
    report.change("a", "cloud", "yours", old: nil, new: "b", origin: b)
    report.change("b", "cloud", "mine", old: nil, new: "a", origin: a)
    report.copy("b")
    #expect(ending == Ending(stdout: report.line))
    #expect(try folder.stores("a") == folder.stores("b"))
    var again = MergeReport([("a", a), ("b", b)])
    again.transfer("b", "a")
    again.transfer("a", "b")
    try folder.expect("merge", "a", "b", "--json", Moment.twelve.argument, prints: again.line)
  }

  @Test func theChangesAreCutAtAThousandUnlessAllAreWanted() throws {
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
      report.transfer(file, "a")
      report.transfer("a", file, received: 1001, changed: 1001)
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
        All files hold the same.

        """), "\(text.suffix(200))")
  }
}
