// SPDX-License-Identifier: Apache-2.0
//
// A disk that has room for less than a command needs, by every few kibibytes.

import Foundation
import TestSupport
import Testing

@Suite(.enabled(if: Tmpfs.isPossible, SmallDisk.need)) struct FullDiskTests {
  private func complaint(_ path: String) -> String {
    "kvsync: \(path): the disk is full; free some space and try again\n"
  }

  /// The files of interrupted making.
  private func drafts(_ folder: Folder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.contains(".new-") }
  }

  /// Runs a command with more and more room until it succeeds.
  ///
  /// - Parameters:
  ///   - run: the command.
  ///   - failed: is called after each failure, with space again.
  /// - Returns: how often it failed.
  @discardableResult
  private func widen(
    _ disk: SmallDisk, by step: Int, about paths: [String], _ run: () throws -> Ending,
    failed: () throws -> Void = {}
  ) throws -> Int {
    var failures = 0
    for pages in stride(from: 0, to: 320, by: Seeds.rounds(step, debug: 5 * step)) {
      try disk.fill(leaving: pages)
      let ending = try run()
      try disk.empty()
      #expect(try drafts(disk.folder) == [], "\(pages) pages: \(ending)")
      if ending.code == 0 || ending.code == 1 { return failures }
      failures += 1
      #expect(ending.code == 74 && ending.stdout == "", "\(pages) pages: \(ending)")
      #expect(paths.map(complaint).contains(ending.stderr), "\(pages) pages: \(ending)")
      try failed()
    }
    Issue.record("it never succeeded")
    return failures
  }

  @Test(
    arguments: Seeds.some(
      of: FileCommand.allCases.filter { ![.watch, .mergeFirst, .mergeLast].contains($0) },
      debug: 4))
  func aCommandThatFindsTheDiskFullSaysSoAndLeavesTheFilesAsTheyWere(
    _ command: FileCommand
  ) throws {
    let disk = try SmallDisk()
    let folder = disk.folder
    try folder.furnish()
    try folder.must("set", "bad", "k", "bad", Moment.eleven.argument)
    try folder.addPeerAndConflict(to: "bad")
    let before = [try folder.contents("bad"), try folder.contents("good")]
    let failures = try widen(disk, by: 4, about: ["bad", "good", "cloned"]) {
      try folder.run(command.arguments("bad"))
    } failed: {
      #expect(!folder.exists("cloned"))
      guard FileCommand.writers.contains(command) else { return }
      let now = try [folder.contents("bad"), folder.contents("good")]
      #expect(now == before)
    }
    #expect(failures > 0)
    if !FileCommand.writers.contains(command), command != .mergeOneWayFirst {
      #expect(try [folder.contents("bad"), folder.contents("good")] == before)
    }
  }

  @Test func aWatchThatFindsTheDiskFullSaysSo() throws {
    let disk = try SmallDisk()
    try disk.folder.furnish()
    try disk.fill(leaving: 1)
    try disk.folder.expect("watch", "good", says: complaint("good"), code: 74)
  }

  // MARK: - New files

  /// So much that a log of it does not fit beside it, where only one of them does.
  ///
  /// - Parameter manyStores: because a clone notes each.
  private func furnishMany(_ folder: Folder, manyStores: Bool) throws {
    try folder.furnish()
    let lines = (0..<400).map {
      let store = manyStores ? "cloud:\($0)" : "cloud"
      let value = String(repeating: "v", count: manyStores ? 1 : 200)
      return #"{"store":"\#(store)","key":"k\#($0)","type":"string","value":"\#(value)"}"#
    }
    try folder.write(lines.joined(separator: "\n"), to: "many")
    try folder.must("import", "bad", "many", Moment.ten.argument)
  }

  @Test(arguments: [
    ["import", "new", "many"], ["clone", "bad", "new"], ["merge", "bad", "new", "--create"],
  ])
  func aNewFileIsThereWholeOrNotAtAll(_ words: [String]) throws {
    let disk = try SmallDisk(pages: 512)
    let folder = disk.folder
    try furnishMany(folder, manyStores: words[0] == "clone")
    let before = try folder.contents("bad")
    try widen(disk, by: 5, about: ["bad", "new"]) {
      try folder.run(words)
    } failed: {
      #expect(!folder.exists("new"))
    }
    try folder.expect("diff", "new", "bad")
    #expect(try folder.replica("new") != folder.replica("bad"))
    #expect(try folder.shell("sqlite3", "new", "PRAGMA integrity_check") == "ok\n")
    #expect(try folder.contents("bad") == before)
  }

  @Test(arguments: [["set", "new", "k", "v"], ["seed", "new", "table.plist"]])
  func aSmallNewFileIsThereWholeOrNotAtAll(_ words: [String]) throws {
    let disk = try SmallDisk()
    try disk.folder.furnish()
    try widen(disk, by: 2, about: ["new"]) {
      try disk.folder.run(words)
    } failed: {
      #expect(!disk.folder.exists("new"))
    }
    #expect(try disk.folder.shell("sqlite3", "new", "PRAGMA integrity_check") == "ok\n")
  }

  // MARK: - Merging

  @Test(arguments: [FileCommand.mergeFirst, .mergeLast], [true, false])
  func aMergeThatFindsTheDiskFullGoesOnFromThere(_ command: FileCommand, isAlone: Bool) throws {
    let disk = try SmallDisk()
    let elsewhere = try Folder()
    let home = isAlone ? elsewhere : disk.folder
    for (file, home) in [("bad", disk.folder), ("good", home)] {
      let lines = (0..<80).map { #"{"key":"\#(file)\#($0)","type":"integer","value":\#($0)}"# }
      try home.write(lines.joined(separator: "\n"), to: "lines")
      try home.must("import", file, "lines", Moment.ten.argument)
    }
    // Each file by its path from the disk.
    let good = isAlone ? "\(elsewhere.path)/good" : "good"
    let words = command.arguments("bad").map { $0 == "good" ? good : $0 }
    try widen(disk, by: 3, about: ["bad", good]) {
      try disk.folder.run(words)
    } failed: {
      try disk.folder.expect("get", "bad", "bad79", prints: "79\n")
      try disk.folder.expect("get", good, "good79", prints: "79\n")
    }
    try disk.folder.expect("diff", "bad", good)
    #expect(try disk.folder.must("list", "bad").split(separator: "\n").count == 160)
    let again = try disk.folder.must("merge", "bad", good, "--json")
    #expect(again.hasPrefix(#"{"converged":true,"#) && again.hasSuffix("\"events\":[]}\n"))
  }

  @Test(
    AddressSpace.isPlain,
    arguments: [["merge", "bad", "good"], ["merge", "good", "new", "--create"]])
  func aFullTemporaryFolderStopsADryRunAndIsNamed(_ words: [String]) throws {
    let folder = try Folder.furnished()
    try folder.must("set", "bad", "k", "bad", Moment.eleven.argument)
    let before = try folder.everything()
    let disk = try SmallDisk()
    let arguments = ["TMPDIR=\(disk.folder.path)", try Command.kvsync.get()] + words
    let failures = try widen(disk, by: 4, about: [disk.folder.path]) {
      try Command.run(Command.find("env"), arguments + ["--dry-run"], in: folder.path)
    } failed: {
      let left = try disk.folder.names()
      #expect(left == [])
    }
    #expect(failures > Seeds.rounds(3, debug: 0))
    #expect(try folder.everything() == before)
    #expect(try disk.folder.names() == [])
  }
}
