// SPDX-License-Identifier: Apache-2.0
//
// The files of a process that dies while it creates a file, at each call to the system.

import Foundation
import TestSupport
import Testing

@Suite struct DraftTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  /// The files that belong to the new file.
  private func names(_ folder: Folder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix("n") }.sorted()
  }

  private func run(
    _ folder: Folder, _ words: [String], _ environment: [String]
  ) throws -> Ending {
    try Command.run(
      Command.find("env"), environment + [Command.kvsync.get()] + words, in: folder.path)
  }

  @Test(
    .enabled(if: KillPoint.isPossible, KillPoint.need),
    arguments: [
      ["set", "n", "k", "v"], ["import", "n", "in"], ["merge", "a", "n", "--create"],
      ["clone", "a", "n"],
    ])
  func whatAKilledProcessWasMakingIsWholeOrIsRemovedByTheNext(_ words: [String]) throws {
    try folder.must("set", "a", "k", "v")
    // Each run makes the same calls: `a` does not remember the files of earlier ones.
    let original = try Data(contentsOf: folder.url("a"))
    try folder.write(#"{"key":"k","type":"string","value":"v"}"# + "\n", to: "in")
    let points = try KillPoint.points { environment in
      let ending = try run(folder, words, environment)
      try #require(ending.code == 0, "\(ending)")
    }
    let isDraft = /n\.new-[0-9a-f]{16}/
    var drafts = 0
    for point in Seeds.some(of: points, debug: 5) {
      try folder.shell("rm", "-f", "n", "a-wal", "a-shm")
      try original.write(to: folder.url("a"))
      let ending = try run(folder, words, KillPoint.environment(at: point))
      #expect(ending.code == 128 + SIGKILL, "call \(point): \(ending)")
      // A file that is whole may be open already, and have a log.
      let left = try names(folder).filter { !["n", "n-shm", "n-wal"].contains($0) }
      #expect(left.allSatisfy { $0.wholeMatch(of: isDraft) != nil }, "\(left)")
      if !left.isEmpty { drafts += 1 }
      if folder.exists("n") { try folder.expect("get", "n", "k", prints: "v\n") }
      try folder.must("set", "n", "next", "v")
      #expect(try names(folder) == ["n"], "call \(point)")
    }
    #expect(drafts > Seeds.rounds(5, debug: 0))
  }

  @Test func whatWasLeftOfABackupIsRemovedByTheNextWriter() throws {
    try folder.must("set", "a", "k", "v")
    for draft in ["a.backup-2026-11-21.new-0123456789abcdef", "a.new-fedcba9876543210"] {
      for name in ["device", "device-wal", "device-shm", "device-journal"] {
        try folder.write("half", to: "\(draft)/\(name)")
      }
    }
    try folder.must("set", "a", "k", "w")
    #expect(try folder.names() == ["a"])
  }

  @Test func whatALiveProcessIsMakingIsLeftAlone() throws {
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    let draft = "a.new-0123456789abcdef"
    try folder.write("half", to: draft + "/device")
    let descriptor = open("\(folder.path)/\(draft)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    try folder.expectDoctor("a", Moment.ten.argument, prints: "a: nothing is wrong\n")
    try folder.expectDoctor(
      "a", "--repair", Moment.ten.argument, prints: "a: nothing is wrong\n")
    try folder.must("set", "a", "k", "w")
    #expect(try folder.names() == ["a", draft])
    close(descriptor)
    try folder.must("set", "a", "k", "x")
    #expect(try folder.names() == ["a"])
  }

  /// Otherwise a power failure may remove the name, with all that was written.
  @Test(.enabled(if: KillPoint.isPossible, KillPoint.need))
  func theFolderOfANewFileIsSyncedOnceAfterItGotItsName() throws {
    let calls = try KillPoint.calls { environment in
      for value in ["v", "w"] {
        let ending = try run(folder, ["set", "n", "k", value], environment)
        #expect(ending == Ending(), "\(ending)")
      }
    }
    let folders = calls.indices.filter { calls[$0] == "fsync of a folder" }
    let named = try #require(calls.firstIndex(of: "link"))
    #expect(folders == [named + 1], "\(calls)")
  }
}
