// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct ConflictsTests {
  /// Two devices that wrote one key each without knowing of the other; b's write was later.
  private let folder: Folder
  private let a, b: String

  init() throws {
    folder = try Folder()
    try folder.must("set", "a", "k", "lost", Moment.ten.argument)
    try folder.must("set", "b", "k", "won", Moment.eleven.argument)
    try folder.must("merge", "a", "b", Moment.twelve.argument)
    (a, b) = (try folder.replica("a"), try folder.replica("b"))
  }

  @Test func theConflictLogSaysWhatLostAndWhatWon() throws {
    try folder.expect(
      "conflicts", "a",
      prints: "1\tcloud\tk\t\"lost\"\tof \(Moment.ten.shown) by \(a)"
        + "\tlost to a write of \(Moment.eleven.shown) by \(b)\n")
    try folder.expect(
      "conflicts", "a", "--json",
      prints: #"{"conflicts":[{"id":1,"store":"cloud","key":"k","lost":"#
        + Moment.ten.entry("string", #""lost""#, a) + #","won":{"#
        + Moment.eleven.provenance(b) + #","found":"\#(Moment.twelve.shown)"}],"dropped":0}"# + "\n"
    )
    try folder.expect("conflicts", "b")
    try folder.expect("conflicts", "a", "--store", "cloud:other")
  }

  @Test func whatIsRestoredIsBackOnAllDevicesAfterTheNextMerge() throws {
    try folder.must("merge", "a", "b", "c", "--create")
    let later = Moment(hour: 13)
    try folder.expect(
      "conflicts", "a", "--restore", "1", "--json", later.argument,
      prints: later.entry("string", #""lost""#, a) + "\n")
    try folder.must("merge", "a", "b", "c", later.argument)
    for file in ["a", "b", "c"] { try folder.expect("get", file, "k", prints: "lost\n") }
    #expect(try folder.must("conflicts", "a").hasPrefix("1\t"), "the log keeps it")
  }

  @Test func aLostDeletionIsRestoredAsOne() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.must("merge", "a", "b", "--create", Moment.ten.argument)
    try folder.must("delete", "a", "k", Moment.eleven.argument)
    try folder.must("set", "b", "k", "won", Moment.twelve.argument)
    try folder.must("merge", "a", "b", Moment.twelve.argument)
    let journal = try folder.must("conflicts", "a")
    #expect(journal.hasPrefix("1\tcloud\tk\tdeleted\tof "), "\(journal)")
    try folder.expect("conflicts", "a", "--restore", "1", prints: "cloud/k is again deleted\n")
    #expect(try folder.run(["get", "a", "k"]).code == 1)
  }

  @Test func aFullConflictLogSaysWhatItNoLongerHas() throws {
    try folder.shell("sqlite3", "a", "UPDATE conflict SET id = 8")
    try folder.expect(
      "conflicts", "a",
      prints: "8\tcloud\tk\t\"lost\"\tof \(Moment.ten.shown) by \(a)"
        + "\tlost to a write of \(Moment.eleven.shown) by \(b)\n",
      says: "kvsync: a: the conflict log is full; the oldest 7 are no longer there\n")
    #expect(try folder.must("conflicts", "a", "--json").hasSuffix(#""dropped":7}"# + "\n"))
  }
}
