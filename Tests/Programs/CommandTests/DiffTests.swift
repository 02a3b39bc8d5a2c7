// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct DiffTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  @Test func equalDevicesAreZeroAndPrintNothing() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.must("set", "b", "k", "v", Moment.eleven.argument)
    try folder.must("delete", "a", "gone")
    try folder.must("set", "a", "own", "a", "--store", "defaults")
    try folder.expect("diff", "a", "b")
    try folder.expect(
      "diff", "a", "b", "--json", prints: #"{"equal":true,"differences":[]}"# + "\n")
  }

  @Test func whatDiffersIsListedWithBothValues() throws {
    try folder.must("set", "a", "theme", "dark")
    try folder.must("set", "b", "theme", "light")
    try folder.must("set", "a", "one\tside", "1", "--store", "cloud:z")
    try folder.must("set", "b", "type", "1", "--type", "integer")
    try folder.must("set", "a", "type", "1")
    try folder.must("set", "a", "deleted", "x")
    try folder.must("set", "b", "deleted", "x")
    try folder.must("delete", "b", "deleted")
    try folder.expect(
      "diff", "a", "b",
      prints: "cloud\tdeleted\t\"x\"\t\ncloud\ttheme\t\"dark\"\t\"light\"\n"
        + "cloud\ttype\t\"1\"\t1\ncloud:z\t\"one\\tside\"\t\"1\"\t\n", code: 1)
    try folder.expect(
      "diff", "b", "a", "--store", "cloud:z", "--json",
      prints: #"{"equal":false,"differences":[{"store":"cloud:z","key":"one\tside","first":null,"#
        + #""second":{"type":"string","value":"1"}}]}"# + "\n", code: 1)
  }

  @Test func otherStoresAreComparedWhenTheyAreNamed() throws {
    try folder.must("set", "a", "k", "v", "--store", "defaults")
    try folder.must("set", "b", "other", "v")
    try folder.expect(
      "diff", "a", "b", "--store", "defaults", prints: "defaults\tk\t\"v\"\t\n", code: 1)
    try folder.expect("diff", "a", "b", "--store", "none")
  }
}
