// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct BadFileTests {
  private let folder: Folder
  init() throws { folder = try Folder.furnished() }

  private let name = "name a file that kvsync or an app made"

  @Test func aMissingFileIsRefusedByAllThatDoNotMakeIt() throws {
    let missing = "there is no such file; check the path"
    for file in ["bad", "none/bad", "lines/bad"] {
      // A file that is only read is not created either.
      let others = FileCommand.sample.filter { command in
        command == .mergeOneWayFirst
          || !FileCommand.makers.contains(command) && !FileCommand.merges.contains(command)
      }
      try folder.expectRefusal(of: file, by: others, missing, code: 66)
      try folder.expectRefusal(
        of: file, by: FileCommand.merges.filter { $0 != .mergeOneWayFirst },
        missing + ", or let --create make it", code: 66)
    }
  }

  @Test func aFileThatCannotBeMadeIsRefused() throws {
    let cure = "make the folder, or name one that you can write to"
    try folder.expectRefusal(
      of: "none/bad", by: FileCommand.makers, "its folder does not exist; \(cure)", code: 73)
    try folder.expectRefusal(
      of: "lines/bad", by: FileCommand.makers, "it cannot be made (Not a directory); \(cure)",
      code: 73)
  }

  @Test func aLinkToNowhereIsRefused() throws {
    try folder.link("bad", to: "nowhere")
    let nowhere = "the symbolic link leads nowhere; "
    let others = FileCommand.sample.filter { !FileCommand.merges.contains($0) }
    try folder.expectRefusal(of: "bad", by: others, nowhere + "fix or remove the link", code: 66)
    let before = try folder.everything()
    for command in FileCommand.merges {
      for options in [[], ["--create"]] {
        let ending = try folder.run(command.arguments("bad") + options)
        #expect(ending.code == 66 && ending.stdout == "", "\(command) \(options) \(ending)")
        #expect(ending.stderr.hasPrefix("kvsync: bad: " + nowhere), "\(command) \(ending)")
      }
    }
    #expect(try folder.everything() == before)
  }

  /// The writer of `bad`, and the expected error.
  @Test(arguments: [
    ("for i in $(seq 200); do printf 'This is no database. '; done >bad", "is not a Keepsake file"),
    (
      "sqlite3 bad 'CREATE TABLE entry (k); INSERT INTO entry VALUES (1)'", "is not a Keepsake file"
    ), ("mkdir bad", "is a folder"),
  ])
  func whatIsNoDeviceFileIsRefused(_ making: String, _ what: String) throws {
    try folder.shell("sh", "-c", making)
    try folder.expectRefusal(of: "bad", "this \(what); \(name)", code: 65)
  }

  @Test func anEmptyFileIsRefused() throws {
    try folder.write("", to: "bad")
    try folder.expectRefusal(of: "bad", "the file is empty; \(name)", code: 65)
  }

  @Test func aPipeIsRefusedWithoutWaitingForIt() throws {
    try folder.shell("mkfifo", "bad.fifo")
    try folder.expectRefusal(of: "bad.fifo", "this is not a regular file; \(name)", code: 65)
  }

  // MARK: - Several files

  private static let unusable: [(name: String, code: Int32)] = [
    ("text", 65), ("nowhere", 66), ("none/file", 73), ("lines/file", 73),
  ]

  /// Each unusable file with a new and a good one, in three orders.
  private func expectNothingNew(
    _ options: [String],
    orders: [(String) -> [String]] = [
      { ["good", "new", $0] }, { ["new", $0, "good"] }, { [$0, "new"] },
    ]
  ) throws {
    let before = try folder.everything()
    for (bad, code) in Self.unusable {
      for files in orders.map({ $0(bad) }) {
        let ending = try folder.run(["merge", "--create"] + options + files)
        #expect(
          ending.code == code && ending.stdout == ""
            && ending.stderr.hasPrefix("kvsync: \(bad): "), "\(files) \(ending)")
        #expect(!folder.exists("new"), "\(files)")
        if folder.exists("new") { try FileManager.default.removeItem(at: folder.url("new")) }
      }
    }
    #expect(try folder.everything() == before)
  }

  @Test func noFileIsMadeWhenAnotherOneIsRefused() throws {
    try folder.write("text", to: "text")
    try folder.link("nowhere", to: "gone")
    try expectNothingNew([])
    try expectNothingNew(["--dry-run"])
    try expectNothingNew(["--one-way"], orders: [{ ["good", $0] }])
  }

  @Test(
    arguments: Seeds.some(
      of: [
        ["good", "good"], ["good", "./good"], ["good", "sub/../good"], ["good", "symbolic"],
        ["symbolic", "good"], ["good", "hard"], ["other", "good", "hard"], ["sub/up/good", "good"],
      ], debug: 3))
  func aFileThatIsNamedTwiceIsRefused(_ files: [String]) throws {
    try folder.must("set", "other", "k", "other", Moment.eleven.argument)
    try folder.makeFolder("sub")
    try folder.link("sub/up", to: "..")
    try folder.link("symbolic", to: "good")
    try FileManager.default.linkItem(at: folder.url("good"), to: folder.url("hard"))
    let before = try folder.everything()
    var commands = [[], ["--dry-run"], ["--one-way"], ["--create"]].map { ["merge"] + $0 }
    if files.count == 2 { commands += [["diff"], ["diff", "--json"]] }
    for command in commands {
      let ending = try folder.run(command + files)
      #expect(ending.code == 64 && ending.stdout == "", "\(command) \(ending)")
      let lines = files.map { "kvsync: \($0): this file is named twice; name each file once\n" }
      #expect(lines.contains(ending.stderr), "\(command) \(ending)")
    }
    #expect(try folder.everything() == before)
  }

  @Test func twoNamesOfOneMissingFileAreRefused() throws {
    for files in [["new", "new"], ["new", "./new"]] {
      try folder.expect(
        "merge", files[0], files[1], "--create",
        says: "kvsync: \(files[1]): this file is named twice; name each file once\n", code: 64)
    }
    #expect(!folder.exists("new"))
  }

  @Test func missingFilesWhoseNamesDifferInTheirBytesAloneAreTwo() throws {
    let files = ["\u{E9}", "e\u{301}"]
    let ending = try folder.run(["merge"] + files + ["--create"])
    #expect(ending.code == 0, "\(ending)")
  }

  @Test func anEmptyNameIsNoFile() throws {
    let before = try folder.everything()
    try folder.expect(
      "set", "", "k", "v", says: "kvsync: the path of the file is empty; name a file\n", code: 64)
    #expect(try folder.everything() == before)
  }

  @Test func filesOfOneNameInTwoFoldersAreTwo() throws {
    try folder.makeFolder("deep/er")
    try folder.link("link", to: "deep/er")
    try folder.must("set", "deep/good", "k", "deep", Moment.eleven.argument)
    // Through the link, `..` is `deep`.
    try folder.must("merge", "link/../good", "good", Moment.eleven.argument)
    try folder.expect("get", "good", "k", prints: "deep\n")
  }
}
