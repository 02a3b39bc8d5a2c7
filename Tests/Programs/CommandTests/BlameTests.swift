// SPDX-License-Identifier: Apache-2.0
//
// Which file a fault is in, and what is no file's fault: limits that the system sets the process.

import Foundation
import TestSupport
import Testing

@Suite struct BlameTests {
  private let folder: Folder
  init() throws { folder = try Folder.furnished() }

  private func overwrite(_ file: URL, at offset: Int, with byte: UInt8) throws {
    var bytes = try Data(contentsOf: file)
    bytes[offset] = byte
    try bytes.write(to: file)
  }

  /// Runs the tool with a limit of prlimit(1).
  private func run(_ folder: Folder, _ limit: String, _ arguments: [String]) throws -> Ending {
    try Command.run(
      Command.find("prlimit"), [limit, try Command.kvsync.get()] + arguments, in: folder.path)
  }

  /// A format that only writing notices, and one of the schema that SQLite does not know.
  @Test(arguments: [18, 47], [["bad", "good"], ["good", "bad"]])
  func aDamagedHeaderIsThatFilesFaultAndNoOtherIsTouched(
    _ offset: Int, _ order: [String]
  ) throws {
    try folder.must("set", "bad", "k", "bad")
    try folder.must("merge", "bad", "good")
    try folder.must("set", "good", "other", "v")
    try overwrite(folder.url("bad"), at: offset, with: 64)
    let tokens = "SELECT * FROM peer; SELECT * FROM entry; SELECT * FROM replica"
    let before = try folder.shell("sqlite3", "good", tokens)
    let ending = try folder.run(["merge"] + order)
    #expect(ending.code == 65 && ending.stdout == "", "\(ending)")
    #expect(ending.stderr.hasPrefix("kvsync: bad: "), "\(ending)")
    #expect(try folder.shell("sqlite3", "good", tokens) == before)
  }

  @Test func aFileWithARowThatIsFarTooLargeIsNamedByWhateverReadsIt() throws {
    try folder.shell(
      "sqlite3", "good",
      "INSERT INTO entry SELECT 'cloud', 'huge', 6, zeroblob(80000000), 1, id, 1000 FROM replica")
    let problem = "it holds more in one row than any device accepts"
    let cure = "do not trust this file"
    try folder.must("set", "other", "k", "v")
    for words in [
      ["list", "good"], ["export", "good"], ["get", "good", "huge"], ["diff", "good", "other"],
      ["diff", "other", "good"], ["merge", "other", "good"],
    ] {
      try folder.expect(words, says: "kvsync: good: \(problem); \(cure)\n", code: 65)
    }
    try folder.expect("get", "other", "k", prints: "v\n")
    try folder.expectDoctor("good", prints: "row: \(problem); \(cure)\n", code: 1)
  }

  @Test func aWriteThatWouldExhaustTheSequenceNumbersFailsAndTheFileStaysReadable() throws {
    let cure = "export what it holds, and import that into a new device"
    let complaint = "kvsync: good: its sequence numbers are used up; \(cure)\n"
    for last in ["(1 << 62) - 1", "1 << 62", "9223372036854775807"] {
      try folder.shell("sqlite3", "good", "UPDATE replica SET sequence_number = \(last)")
      try folder.expect("set", "good", "k", "new", says: complaint, code: 65)
      try folder.expect("get", "good", "k", prints: "v\n")
    }
    try folder.expect("clone", "good", "new", says: complaint, code: 65)
  }

  @Test(AddressSpace.isPlain, arguments: [0, 1000, 2000, 10_000, 30_000, 32_768, 33_000])
  func aFileThatMayNotGrowIsAnErrorThatNamesTheLimit(_ limit: Int) throws {
    let text = String(repeating: "v", count: 100_000)
    try folder.write(#"{"key":"k","type":"string","value":"\#(text)"}"#, to: "large")
    for words in [
      ["import", "good", "large"], ["import", "new", "large"],
      ["merge", "good", "new", "--create"],
    ] where limit < 30_000 || words[0] == "import" {
      let ending = try run(folder, "--fsize=\(limit)", words)
      #expect(ending.code == 74 && ending.stdout == "", "\(words) \(ending)")
      let file = words.contains("new") && words[0] == "import" ? "new" : "good"
      #expect(
        ending.stderr.hasPrefix("kvsync: \(file): the system reports: File too large"),
        "\(words) \(ending)")
    }
    try folder.expect("get", "good", "k", prints: "v\n")
    #expect(!folder.exists("new"))
  }

  /// A command that fails says so of the process, and has made nothing.
  @Test(arguments: [
    ["list", "good"], ["set", "good", "k", "new"], ["clone", "good", "new"], ["compact", "good"],
    ["merge", "good", "bad"],
  ])
  func withFewDescriptorsACommandWorksOrMakesNothing(_ words: [String]) throws {
    try folder.must("set", "bad", "k", "w")
    for count in [6, 7, 9] + Seeds.some(of: 12...26, debug: 6) {
      let before = try folder.contents("good")
      let ending = try run(folder, "--nofile=\(count)", words)
      #expect(ending.code == 74 || (count > 9 && ending.code == 0), "\(count) \(ending)")
      if ending.code == 74 {
        #expect(ending.stdout == "" && ending.stderr.contains("Too many open files"))
        #expect(try folder.contents("good") == before, "\(count)")
      }
      #expect(folder.exists("new") == (ending.code == 0 && words[0] == "clone"), "\(count)")
      try folder.shell("rm", "-f", "new")
    }
  }

  @Test func aTemporaryFolderWithTwoSlashesIsNoDamage() throws {
    try folder.must("set", "bad", "other", "v")
    try folder.shell(
      "env", "TMPDIR=/\(folder.path)", try Command.kvsync.get(), "merge", "good", "bad",
      "--dry-run")
  }

  @Test func whatATerminalActsOnIsEscapedForPeopleAndExactInJSON() throws {
    let folder = try Folder()
    let odd = "a\u{9B}31m\u{202E}b"
    try folder.must("set", "f", odd, odd)
    let shown = #""a\u009b31m\u202eb""#
    try folder.expect("list", "f", prints: "cloud\t\(shown)\tstring\t\(shown)\n")
    #expect(try folder.must("list", "f", "--json").contains(odd))
    let ending = try folder.run(["list", odd])
    #expect(ending.stderr.hasPrefix(#"kvsync: a\u{009B}31m\u{202E}b: "#), "\(ending)")
  }
}
