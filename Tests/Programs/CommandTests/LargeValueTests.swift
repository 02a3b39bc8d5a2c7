// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A value of 20 MB (6 MB in a debug build), by which nothing is cut, and which takes only a few
/// times its size.
@Suite(AddressSpace.isPlain) struct LargeValueTests {
  private static let size = Seeds.rounds(20_000_000, debug: 6_000_000)

  /// Runs the tool with so much memory as it may have, in KiB of address space.
  private func run(_ folder: Folder, _ words: String) throws -> Ending {
    let limit = Self.size / 1024 * 12 + 300_000
    return try Command.run(
      Command.find("sh"), ["-c", "ulimit -v \(limit); \"$0\" \(words)", try Command.kvsync.get()],
      in: folder.path)
  }

  private func size(_ folder: Folder, _ file: String) throws -> Int {
    try #require(try folder.url(file).resourceValues(forKeys: [.fileSizeKey]).fileSize)
  }

  @Test func aLargeValueGoesThroughEveryCommand() throws {
    let folder = try Folder.furnished()
    let text = String(repeating: "0123456789", count: Self.size / 10)
    try folder.write(#"{"key":"k","type":"string","value":""# + text + "\"}\n", to: "in")
    #expect(try run(folder, "import bad in") == Ending(stdout: "1 imported, 1 changed\n"))
    for words in [
      "get bad k >got", "export bad >exported", "clone bad cloned", "diff bad cloned",
      "merge bad new --create --quiet",
    ] {
      let ending = try run(folder, words)
      #expect(ending.code == 0 && ending.stderr == "", "\(words) \(ending)")
    }
    let got = try Data(contentsOf: folder.url("got"))
    #expect(got == Data(text.utf8) + [0x0A])
    #expect(try size(folder, "exported") > Self.size)
    for file in ["cloned", "new"] {
      let length = "SELECT length(CAST(value AS BLOB)) FROM entry WHERE key = 'k'"
      #expect(try folder.shell("sqlite3", file, length) == "\(Self.size)\n")
    }
  }

  @Test func aLargeValueIsShownWhole() throws {
    let folder = try Folder.furnished()
    let text = String(repeating: "v", count: Seeds.rounds(5_000_000, debug: 1_000_000))
    try folder.write(#"{"key":"k","type":"string","value":""# + text + "\"}\n", to: "in")
    try folder.must("import", "bad", "in", Moment.eleven.argument)
    try folder.expect("list", "bad", prints: "cloud\tk\tstring\t\"\(text)\"\n")
    try folder.expect("diff", "good", "bad", prints: "cloud\tk\t\"v\"\t\"\(text)\"\n", code: 1)
    #expect(try folder.must("explain", "bad", "k").hasPrefix("cloud/k: \"\(text)\"\n  set: "))
    let merged = try folder.must("merge", "bad", "good", Moment.eleven.argument)
    #expect(merged.contains("  good  cloud/k: \"v\" -> \"\(text)\"\n"))
  }

  @Test func theLongestArgumentIsSetAndRead() throws {
    let folder = try Folder()
    // Linux: 128 KiB for one argument, with the NUL at its end.
    let text = String(repeating: "v", count: 131_071)
    try folder.must("set", "a", "k", text)
    try folder.expect("get", "a", "k", prints: text + "\n")
  }

  @Test func aWatchTellsALargeValueInOneLine() throws {
    let folder = try Folder.furnished()
    let text = String(repeating: "v", count: Seeds.rounds(5_000_000, debug: 1_000_000))
    try folder.write(#"{"key":"k","type":"string","value":""# + text + "\"}\n", to: "in")
    let script = """
      "$0" watch good >seen 2>said & while ! [ -s said ]; do sleep 0.02; done
      "$0" import good in --quiet
      while [ "$(wc -l <seen)" -eq 0 ]; do sleep 0.05; done; kill -INT $!; wait $!
      """
    try folder.shell("sh", "-c", script, Command.kvsync.get())
    let seen = try Data(contentsOf: folder.url("seen"))
    #expect(seen == Data(#"cloud/k: "v" -> ""#.utf8) + Data(text.utf8) + Data("\"\n".utf8))
  }

  @Test func aMergeTakesOnlySoManyLargeValuesAtOnce() throws {
    let folder = try Folder.furnished()
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
    #expect(try folder.shell("sqlite3", "bad", kept) == "1\n")
    #expect(try folder.shell("sqlite3", "good", "SELECT count(*) FROM conflict") == "0\n")
  }

  @Test(arguments: Seeds.rounds([70_000_000, 200_000_000], debug: [70_000_000]))
  func aValueThatNoDeviceAcceptsIsNamedBeforeAnythingIsWritten(size: Int) throws {
    let folder = try Folder.furnished()
    try folder.must("set", "bad", "k", "v")
    try folder.shell(
      "sqlite3", "bad",
      "INSERT INTO entry SELECT 'cloud', 'huge', 6, zeroblob(\(size)), 1, id, 1000 FROM replica")
    let before = try folder.contents("good")
    let ending = try run(folder, "merge good bad")
    #expect(ending.code == 65 && ending.stdout == "")
    #expect(
      ending.stderr
        == "kvsync: bad: cloud/huge is larger than any device accepts; do not trust this file; "
        + "restore a backup of it\n")
    #expect(try folder.contents("good") == before)
  }
}
