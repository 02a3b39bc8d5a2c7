// SPDX-License-Identifier: Apache-2.0
//
// A disk that cannot be read is no damage of the file, wherever the fault strikes: at opening, in
// the log, while the other file is attached, in a copy.

import Foundation
import TestSupport
import Testing

@Suite(.enabled(if: KillPoint.isPossible, KillPoint.need)) struct ReadFaultTests {
  /// Files that have met, and that a later merge changes; optionally with logs that crashes left.
  private func seed(_ folder: Folder, hasLogs: Bool) throws {
    for file in ["a", "b"] { try folder.must("set", file, "key of \(file)", "v") }
    try folder.must("merge", "a", "b")
    try folder.must("set", "b", "late", "v")
    guard hasLogs else { return }
    for file in ["a", "b"] {
      try folder.crash(
        file,
        "UPDATE entry SET value = 'w', sequence_number = sequence_number + 10 WHERE key <> 'late'",
        "UPDATE replica SET sequence_number = sequence_number + 10")
      try folder.shell("rm", "\(file)-shm")
    }
  }

  /// The device file that one in the folder belongs to: itself, its log, or a draft of it.
  private func device(of file: String) -> String {
    String(file.prefix { $0 != "." && $0 != "-" })
  }

  /// Lets each read of a command fail in turn, until one is left out.
  ///
  /// - Parameter expectWhole: looks at the files, now and before, when a command has failed.
  /// - Returns: how many commands have failed.
  @discardableResult
  private func strikeEach(
    _ words: [String], hasLogs: Bool = false,
    expectWhole: (Folder, _ before: Folder, Comment) throws -> Void
  ) throws -> Int {
    let seed = try Folder()
    try self.seed(seed, hasLogs: hasLogs)
    var failures = 0
    for place in stride(from: 1, through: 10_000, by: Seeds.rounds(1, debug: 17)) {
      let folder = try Folder()
      for name in try FileManager.default.contentsOfDirectory(atPath: seed.path) {
        try FileManager.default.copyItem(at: seed.url(name), to: folder.url(name))
      }
      let (ending, struck) = try ReadFault.strike(at: place, in: folder.path) { environment in
        try Command.run(
          Command.find("env"), environment + [try Command.kvsync.get()] + words, in: folder.path)
      }
      guard let struck else {
        #expect(place > 10)
        return failures
      }
      // Some are tried again; others are of no consequence, as those of a checkpoint at closing.
      if ending.code == 0 || words[0] == "diff" && ending.code == 1 { continue }
      failures += 1
      let comment: Comment = "\(words) \(place) \(struck) \(ending)"
      #expect(ending.code == 74 && ending.stdout == "", comment)
      // A merge or a copy uses two files, and SQLite does not say which of them failed.
      let files = ["\(device(of: struck)): ", "a or ", "b or "]
      #expect(files.contains { ending.stderr.hasPrefix("kvsync: \($0)") }, comment)
      #expect(ending.stderr.contains("Input/output error"), comment)
      try expectWhole(folder, seed, comment)
    }
    Issue.record("the command reads without end")
    return failures
  }

  private func expectUnchanged(
    _ folder: Folder, _ before: Folder, _ comment: Comment
  ) throws {
    #expect(try folder.names() == ["a", "b"], comment)
    for file in ["a", "b"] {
      let bytes = try Data(contentsOf: folder.url(file))
      #expect(try bytes == Data(contentsOf: before.url(file)), comment)
    }
  }

  /// Closing may have moved the log into its file.
  private func expectLateValue(_ folder: Folder, _ comment: Comment) throws {
    #expect(try folder.names() == ["a", "b"], comment)
    #expect(try folder.must("get", "a", "key of a") == "w\n", comment)
  }

  @Test(arguments: [
    ["get", "a", "key of a"], ["list", "a"], ["doctor", "a"], ["diff", "a", "b"],
    ["set", "a", "k", "new"], ["clone", "a", "c"], ["restore", "b", "a"],
    ["merge", "a", "b", "--dry-run"],
  ])
  func aReadThatFailsIsBlamedOnItsFileAndIsNoDamage(_ words: [String]) throws {
    try strikeEach(words) { try expectUnchanged($0, $1, $2) }
  }

  @Test(arguments: [["get", "a", "key of a"], ["diff", "a", "b"]])
  func aReadOfALogThatFailsLosesNothingOfIt(_ words: [String]) throws {
    try strikeEach(words, hasLogs: true) { folder, _, comment in
      try expectLateValue(folder, comment)
    }
  }

  private func expectMergeGoesOn(_ folder: Folder, _ comment: Comment) throws {
    try folder.must("merge", "a", "b")
    #expect(try folder.must("get", "a", "late") == "v\n", comment)
    try folder.expect("diff", "a", "b")
  }

  @Test func aMergeThatCannotReadGoesOnWhenItCan() throws {
    let failures = try strikeEach(["merge", "a", "b"]) { folder, _, comment in
      try expectMergeGoesOn(folder, comment)
    }
    #expect(failures > 0)
  }
}
