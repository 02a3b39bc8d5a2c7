// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct ConflictsTests {
  /// Two devices that wrote one key each without knowing of the other; b's write was later.
  private func pair() throws -> (Folder, a: String, b: String) {
    let folder = try Folder()
    try folder.must("set", "a", "k", "lost", Moment.ten.argument)
    try folder.must("set", "b", "k", "won", Moment.eleven.argument)
    try folder.must("merge", "a", "b", Moment.twelve.argument)
    return (folder, try folder.replica("a"), try folder.replica("b"))
  }

  @Test func theConflictLogSaysWhatLostAndToWhom() throws {
    let (folder, a, b) = try pair()
    try folder.expect(
      "conflicts", "b",
      prints: "1\tcloud\tk\t\"lost\"\tof \(Moment.ten.shown) by \(a)"
        + "\tlost to a write of \(Moment.eleven.shown) by \(b)\n")
    try folder.expect(
      "conflicts", "b", "--json",
      prints: #"{"conflicts":[{"id":1,"store":"cloud","key":"k","lost":"#
        + Moment.ten.entry("string", #""lost""#, a) + #","won":{"#
        + Moment.eleven.provenance(b) + #","found":"\#(Moment.twelve.shown)"}],"dropped":0}"# + "\n"
    )
    try folder.expect("conflicts", "a")
    try folder.expect("conflicts", "b", "--store", "cloud:other")
  }

  @Test func whatIsRestoredIsBackOnAllDevicesAfterTheNextMerge() throws {
    let (folder, _, b) = try pair()
    try folder.must("merge", "a", "b", "c", "--create")
    let later = Moment(hour: 13)
    try folder.expect(
      "conflicts", "b", "--restore", "1", "--json", later.argument,
      prints: later.entry("string", #""lost""#, b) + "\n")
    try folder.must("merge", "a", "b", "c", later.argument)
    for file in ["a", "b", "c"] { try folder.expect("get", file, "k", prints: "lost\n") }
    #expect(try folder.must("conflicts", "b").hasPrefix("1\t"), "the journal keeps it")
  }

  @Test func aLostDeletionIsRestoredAsOne() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.must("merge", "a", "b", "--create", Moment.ten.argument)
    try folder.must("delete", "a", "k", Moment.eleven.argument)
    try folder.must("set", "b", "k", "won", Moment.twelve.argument)
    try folder.must("merge", "a", "b", Moment.twelve.argument)
    let journal = try folder.must("conflicts", "b")
    #expect(journal.hasPrefix("1\tcloud\tk\tdeleted\tof "), "\(journal)")
    try folder.expect("conflicts", "b", "--restore", "1", prints: "cloud/k is again deleted\n")
    #expect(try folder.run(["get", "b", "k"]).code == 1)
  }

  @Test func aFullConflictLogSaysWhatItNoLongerHas() throws {
    let (folder, a, b) = try pair()
    try folder.shell("sqlite3", "b", "UPDATE conflict SET id = 8")
    try folder.expect(
      "conflicts", "b",
      prints: "8\tcloud\tk\t\"lost\"\tof \(Moment.ten.shown) by \(a)"
        + "\tlost to a write of \(Moment.eleven.shown) by \(b)\n",
      says: "kvsync: b: the conflict log is full; the oldest 7 are no longer there\n")
    #expect(try folder.must("conflicts", "b", "--json").hasSuffix(#""dropped":7}"# + "\n"))
  }

  @Test(arguments: ["0", "2", "-1", "9223372036854775807", "-9223372036854775808"])
  func aConflictThatIsNotThereIsAMisuse(_ id: String) throws {
    let (folder, _, _) = try pair()
    let before = try folder.contents("b")
    try folder.expect(
      "conflicts", "b", "--restore=\(id)",
      says: "kvsync: b: there is no conflict \(id); see kvsync conflicts for those there are\n",
      code: 64)
    #expect(try folder.contents("b") == before)
  }
}
