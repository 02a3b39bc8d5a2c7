// SPDX-License-Identifier: Apache-2.0
//
// A value of a store that syncs has at most 1 MiB, of any other store 16 MiB; a key 1,024 bytes.

import Foundation
import TestSupport
import Testing

/// A store, and what a value in it may have.
private struct Limit: Sendable, CustomTestStringConvertible {
  let store: String
  let bytes: Int

  static let all = [
    Limit(store: "cloud", bytes: 1 << 20), Limit(store: "defaults", bytes: 1 << 24),
  ]

  var testDescription: String { store }

  func problem(_ size: Int, _ key: String = "large") -> String {
    "the value of \(store)/\(key) has \(size) bytes, more than the limit of \(bytes)"
  }
}

@Suite(AddressSpace.isPlain) struct ValueLimitTests {
  private let folder: Folder
  init() throws { folder = try Folder.furnished() }

  private static let cure = "set a smaller one, or delete the key"
  private static let key = String(repeating: "k", count: 1024)

  private func line(_ limit: Limit, _ key: String, _ size: Int) -> String {
    #"{"store":"\#(limit.store)","key":"\#(key)","type":"string","value":"\#(text(size))"}"#
  }

  private func text(_ size: Int) -> String {
    String(String(repeating: "0123456789", count: size / 10 + 1).prefix(size))
  }

  /// A row of another program.
  private func insert(_ file: String, _ limit: Limit, _ size: Int, in folder: Folder) throws {
    try folder.shell(
      "sqlite3", file,
      "INSERT INTO entry SELECT '\(limit.store)', 'large', 6, zeroblob(\(size)), 1, id, 1000 "
        + "FROM replica")
  }

  @Test(arguments: Seeds.rounds(Limit.all, debug: [Limit.all[0]]))
  private func aValueAtItsLimitGoesThroughEveryCommand(_ limit: Limit) throws {
    let text = text(limit.bytes)
    try folder.write(line(limit, Self.key, limit.bytes), to: "in")
    try folder.must("import", "bad", "in", Moment.ten.argument)
    let shown = "\(limit.store)\t\(Self.key)\tstring\t\"\(text)\"\n"
    for file in ["bad", "cloned"] {
      #expect(try folder.must("list", file, "--store", limit.store) == shown)
      #expect(try folder.must("get", file, Self.key, "--store", limit.store) == text + "\n")
      if file == "bad" { try folder.must("clone", "bad", "cloned") }
    }
    try folder.write(try folder.must("export", "bad"), to: "exported")
    try folder.expect("import", "copy", "exported", prints: "1 imported, 1 changed\n")
    let merged = try folder.must("merge", "bad", "good", Moment.eleven.argument)
    #expect(merged.contains(text) == (limit.store == "cloud"))
    try folder.expect("merge", "bad", "good", "--quiet")
  }

  @Test(arguments: Limit.all)
  private func oneByteMoreIsRefusedWithAllOfAnImport(_ limit: Limit) throws {
    let lines = [line(limit, "first", 1), line(limit, "large", limit.bytes + 1)]
    try folder.write(lines.joined(separator: "\n"), to: "in")
    let before = try folder.contents("good")
    for file in ["good", "new"] {
      let problem = limit.problem(limit.bytes + 1)
      try folder.expect(
        "import", file, "in",
        says: "kvsync: \(file): \(problem); keep it in a file of its own\n", code: 64)
    }
    #expect(try folder.contents("good") == before && !folder.exists("new"))
  }

  /// A row of another program stays where it is: no file is changed by a merge.
  @Test(arguments: [["good", "bad"], ["bad", "good"]])
  func aLargerRowOfAFileIsNamedBeforeAMergeWritesAnything(_ order: [String]) throws {
    let (folder, limit) = (try Folder.furnished(), Limit.all[0])
    try folder.must("set", "bad", "k", "bad", Moment.eleven.argument)
    try insert("bad", limit, limit.bytes + 1, in: folder)
    let before = try ["good", "bad"].map(folder.contents)
    let complaint = "\(limit.problem(limit.bytes + 1)); \(Self.cure)\n"
    try folder.expect(["merge"] + order, says: "kvsync: bad: \(complaint)", code: 65)
    #expect(try ["good", "bad"].map(folder.contents) == before)
    try folder.expectDoctor("bad", prints: "row: \(complaint)", code: 1)
    // It can be read, made smaller, and then merged.
    #expect(try folder.must("get", "bad", "large").utf8.count == (limit.bytes / 3 + 1) * 4 + 1)
    try folder.must("set", "bad", "large", "v", Moment.twelve.argument)
    try folder.must("merge", "good", "bad", Moment.twelve.argument)
    try folder.expect("get", "good", "large", prints: "v\n")
  }

  /// Its name is none of ours, so only deleting it helps.
  @Test func aLongerKeyOfAnotherProgramCanBeDeletedAndThenAMergeGoesOn() throws {
    let key = String(repeating: "k", count: 1025)
    try folder.must("set", "bad", "k", "bad", Moment.eleven.argument)
    try folder.shell(
      "sqlite3", "bad", "UPDATE entry SET key = '\(key)' WHERE key = 'k' AND store = 'cloud'")
    #expect(try folder.run(["merge", "good", "bad", Moment.eleven.argument]).code == 65)
    try folder.must("delete", "bad", key, Moment.twelve.argument)
    try folder.must("merge", "good", "bad", Moment.twelve.argument)
    #expect(try folder.run(["delete", "good", key + "k"]).code == 64)
  }

  @Test func theLongestArgumentIsSetAndRead() throws {
    let folder = try Folder()
    // Linux: 128 KiB for one argument, with the NUL at its end.
    let text = text(131_071)
    try folder.must("set", "a", "k", text)
    try folder.expect("get", "a", "k", prints: text + "\n")
  }

  @Test func aMergeTakesOnlySoManyLargeValuesAtOnce() throws {
    for (file, letter) in [("good", "a"), ("bad", "b")] {
      try folder.must("set", file, "k", "v")
      try folder.shell(
        "sqlite3", file,
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
        INSERT INTO entry SELECT 'cloud', 'k' || i, 1,
          replace(hex(zeroblob(500000)), '0', '\(letter)'), i << 16,
          (SELECT id FROM replica), 1000 + i FROM n
        """)
    }
    // KiB of address space. The program itself takes 300,000, and the C library reserves 65,536 for
    // each thread that allocates, as those of checkpoints do.
    let limit = 600_000
    let ending = try Command.run(
      Command.find("sh"),
      ["-c", "ulimit -v \(limit); \"$0\" merge good bad --json >said", try Command.kvsync.get()],
      in: folder.path)
    #expect(ending == Ending())
    let equal = "ATTACH 'good' AS g; SELECT count(*) FROM entry JOIN g.entry USING (key, value)"
    #expect(try Int(folder.shell("sqlite3", "bad", equal).dropLast()) ?? 0 >= 100)
    #expect(try folder.shell("sh", "-c", "grep -c truncated said") == "1\n")
    // The one that reads first logs the conflicts; its log keeps up to 64 MiB.
    let kept = "SELECT count(*) BETWEEN 60 AND 67 FROM conflict"
    #expect(try folder.shell("sqlite3", "good", kept) == "1\n")
    #expect(try folder.shell("sqlite3", "bad", "SELECT count(*) FROM conflict") == "0\n")
  }
}
