// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct CompactTests {
  @Test func deletionsAreDroppedWhenTheyAreOld() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.must("delete", "a", "k", Moment.ten.argument)
    try folder.must("merge", "a", "b", "--create", Moment.ten.argument)
    for file in ["a", "b"] { try folder.must("compact", file, Moment.ten.argument) }
    let size = try #require(
      try folder.url("a").resourceValues(forKeys: [.fileSizeKey]).fileSize)
    let sizes = "\(size) bytes before, \(size) after\n"
    try folder.expect(
      "compact", "a", "--at", "2027-11-01",
      prints: "0 deletions dropped, 1 kept; \(sizes)")
    try folder.expect(
      "compact", "a", "--at", "2027-12-01",
      prints: "1 deletion dropped, 0 kept; \(sizes)")
    try folder.expect(
      "compact", "b", "--keep", "1d", "--at", "2026-11-22", "--json",
      prints: #"{"dropped":1,"kept":0,"bytesBefore":\#(size),"#
        + #""bytesAfter":\#(size)}"# + "\n")
    #expect(try !folder.contents("a").contains(#""deleted""#))
    try folder.expect("diff", "a", "b")
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
}
