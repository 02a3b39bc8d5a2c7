// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct ExplainTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  @Test func everyLayerIsListedAndTheFirstWins() throws {
    try folder.write(defaultsTable, to: "table.plist")
    try folder.must("seed", "a", "table.plist")
    let explain = ["explain", "a", "theme", "--store", "defaults"]
    let seed = "  default: \"light\", table.plist:5 of table.plist\n"
    try folder.expect(explain, prints: "defaults/theme: \"light\"\n" + seed)
    try folder.must("set", "a", "theme", "dark", "--store", "defaults", Moment.ten.argument)
    try folder.expect(
      explain,
      prints: "defaults/theme: \"dark\"\n  set: \"dark\", \(Moment.ten.shown) by this device\n"
        + seed)
    let own = Moment.ten.entry("string", #""dark""#, try folder.replica("a")).dropFirst()
    try folder.expect(
      explain + ["--json"],
      prints: #"{"store":"defaults","key":"theme","value":{"type":"string","value":"dark"},"#
        + #""layers":[{"layer":"entry",\#(own),{"layer":"seed","type":"string","#
        + #""value":"light","source":"table.plist:5","bundle":"table.plist"}],"#
        + #""conflicts":[]}"# + "\n")
  }

  @Test func anotherStoreThatHasTheKeyIsNamed() throws {
    try folder.must("set", "a", "x", "1", "--store", "defaults")
    try folder.expect(
      "explain", "a", "x", prints: "cloud/x: no value\n",
      says: "kvsync: a: store defaults has this key\n")
    try folder.expect(
      "set", "a", "x", "1", says: "kvsync: a: cloud/x is new; store defaults has this key, too\n")
    try folder.expect("set", "a", "x", "2")
    try folder.expect("set", "a", "x", "2", "--store", "cloud:b", "--quiet")
  }

  @Test func aDeletedKeyAndAnUnknownOneHaveNoValue() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.must("delete", "a", "k", Moment.eleven.argument)
    try folder.expect(
      "explain", "a", "k",
      prints: "cloud/k: no value\n  deleted: \(Moment.eleven.shown) by this device\n")
    try folder.expect("explain", "a", "x", prints: "cloud/x: no value\n")
    try folder.expect(
      "explain", "a", "x", "--json",
      prints: #"{"store":"cloud","key":"x","value":null,"layers":[],"conflicts":[]}"#
        + "\n")
  }

  @Test func whatLostIsListed() throws {
    try folder.must("set", "a", "k", "lost", Moment.ten.argument)
    try folder.must("set", "b", "k", "won", Moment.eleven.argument)
    try folder.must("merge", "b", "a", Moment.eleven.argument)
    let a = try folder.replica("a")
    try folder.expect(
      "explain", "b", "k", Moment.twelve.argument,
      prints: "cloud/k: \"won\"\n  set: \"won\", \(Moment.eleven.shown) by this device\n"
        + "  lost (conflict 1): \"lost\", \(Moment.ten.shown) by device \(a)\n")
  }

  @Test func ofTwoBundlesTheOneThatWasSeededLastCounts() throws {
    try folder.write(defaultsTable, to: "table.plist")
    try folder.write(
      defaultsTable.replacingOccurrences(of: "light", with: "sepia"), to: "other.plist")
    try folder.must("seed", "a", "table.plist")
    try folder.must("seed", "a", "other.plist")
    try folder.expect(
      "explain", "a", "theme", "--store", "defaults",
      prints: "defaults/theme: \"sepia\"\n  default: \"sepia\", other.plist:5 of other.plist\n"
        + "  default: \"light\", table.plist:5 of table.plist,"
        + " behind a bundle that was seeded later\n")
    try folder.expect("get", "a", "theme", "--store", "defaults", prints: "sepia\n")
  }
}
