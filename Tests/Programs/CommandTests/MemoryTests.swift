// SPDX-License-Identifier: Apache-2.0
//
// What a value costs in memory: at most four times its bytes, and five times in a merge, where
// SQLite has it in several places, beside the pages that a merge keeps. Built, the arrays here
// would take sixty times theirs. That does not depend on optimisation, so it holds in debug builds
// too.

import Foundation
import TestSupport
import Testing

/// An array of elements of one kind, five megabytes long.
private enum Shape: String, CaseIterable, Sendable {
  case ones = "1"
  case objects = "{}"

  static let size = 5_000_000

  /// A build that is not optimised needs a minute for each.
  static let some = Seeds.rounds(allCases, debug: [.objects])

  var text: String {
    let count = Self.size / (rawValue.utf8.count + 1)
    return "[" + Array(repeating: rawValue, count: count).joined(separator: ",") + "]"
  }
}

private struct Work: Sendable, CustomTestStringConvertible {
  let words: [String]
  var code: Int32 = 0
  var factor = 4
  /// What is taken for pages of two files, whatever is in them.
  var pages = 0

  var testDescription: String { words.joined(separator: " ") }
}

@Suite(.serialized, AddressSpace.isPlain) struct MemoryTests {
  /// Runs a program, its output to nowhere, and prints its exit code and its peak in bytes.
  private static let measuring = """
    import os, sys
    child = os.fork()
    if child == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execv(sys.argv[1], sys.argv[1:])
    _, status, usage = os.wait4(child, 0)
    print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
    """

  private static let works = [
    Work(words: ["import", "new", "in"]), Work(words: ["get", "a", "k"]),
    Work(words: ["list", "a"]),
    Work(words: ["export", "a"]), Work(words: ["doctor", "a"]), Work(words: ["explain", "a", "k"]),
    Work(words: ["conflicts", "merged"]),
    Work(words: ["diff", "a", "b"], code: 1, pages: 10 << 20),
    Work(words: ["merge", "a", "b"], factor: 5, pages: 20 << 20),
  ]

  private func peak(_ work: Work, in folder: Folder) throws -> Int {
    let said = try Command.run(
      Command.find("python3"), ["-c", Self.measuring, Command.kvsync.get()] + work.words,
      in: folder.path
    ).stdout
    let numbers = said.dropLast().split(separator: " ").compactMap { Int($0) }
    try #require(numbers.count == 2 && numbers[0] == Int(work.code), "\(work.words) \(said)")
    return numbers[1]
  }

  /// `a` has the value, `b` and `merged` a later one, `merged` knows that it lost.
  private func furnish(_ value: String) throws -> Folder {
    let folder = try Folder()
    try folder.write(#"{"key":"k","type":"array","value":"# + value + "}\n", to: "in")
    try folder.must("import", "a", "in", Moment.ten.argument)
    for file in ["b", "merged"] {
      try folder.must("set", file, "k", "v", Moment.eleven.argument)
    }
    try folder.must("merge", "a", "merged", "--one-way", "--quiet", Moment.eleven.argument)
    return folder
  }

  @Test(arguments: Shape.some)
  private func noCommandTakesManyTimesAValue(_ shape: Shape) throws {
    let (large, small) = (try furnish(shape.text), try furnish("[1]"))
    // A debug build needs several seconds for each.
    for work in Seeds.some(of: Self.works, debug: 4) {
      let cost = try peak(work, in: large) - peak(work, in: small)
      // Of two runs of one command one takes up to a megabyte more.
      let limit = work.factor * Shape.size + work.pages + 1 << 20
      #expect(cost <= limit, "\(work.words) took \(cost) bytes")
    }
  }

  @Test(
    arguments: Seeds.rounds(
      [#"{"key":"k","type":"string","value":""#, "", "["], debug: [""]))
  func anInputWithoutAnEndOfLineIsRefusedInBoundedMemory(_ beginning: String) throws {
    let folder = try Folder()
    let said = try folder.shell(
      "sh", "-c",
      """
      (printf %s "$2"; head -c 140000000 /dev/zero | tr '\\0' a) |
        python3 -c "$1" "$0" import a - 2>said
      """, Command.kvsync.get(), Self.measuring, beginning)
    let numbers = said.dropLast().split(separator: " ").compactMap { Int($0) }
    try #require(numbers.count == 2 && numbers[0] == 65, "\(said)")
    #expect(numbers[1] < 4 * 64 << 20)
    #expect(
      try String(contentsOf: folder.url("said"), encoding: .utf8)
        == "kvsync: (standard input):1: this is longer than 134217728 bytes;"
        + " keep what is so large in a file of its own\n")
    #expect(try folder.names() == ["said"])
  }

  @Test func linesAreNotHeldAtOnce() throws {
    let folder = try Folder()
    let count = Seeds.rounds(200_000, debug: 100_000)
    try folder.shell(
      "sh", "-c",
      """
      seq -f '{"key":"key %.0f","type":"integer","value":1}' \(count) > in
      """)
    for words in [["import", "a", "in"], ["export", "a"], ["export", "a", "--format", "json"]] {
      let cost = try peak(Work(words: words), in: folder)
      #expect(cost < 80 << 20, "\(words) took \(cost) bytes")
    }
  }

  @Test func aPropertyListOfTooManyElementsIsRefused() throws {
    let folder = try Folder()
    try folder.shell(
      "sh", "-c",
      """
      (printf '<plist version="1.0"><dict><key>k</key><array>'; yes '<true/>' | head -n 1000001
      printf '</array></dict></plist>') > in
      """)
    let ending = try folder.run(["import", "a", "in"])
    #expect(ending.code == 65 && ending.stderr.contains("1000000"), "\(ending)")
    #expect(try folder.names() == ["in"])
  }
}
