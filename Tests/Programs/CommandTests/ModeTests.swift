// SPDX-License-Identifier: Apache-2.0
//
// The permissions of files that kvsync creates, also while it creates them.

import Foundation
import TestSupport
import Testing

@Suite struct ModeTests {
  /// Everything in a folder with its permissions, folders by a slash: "a 600", "a.new-…/ 700".
  private func modes(_ folder: Folder) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).map { name in
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
      let mode = String((attributes[.posixPermissions] as? Int) ?? 0, radix: 8)
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      return "\(name)\(isFolder ? "/" : "") \(mode)"
    }
  }

  @Test(
    .enabled(if: KillPoint.isPossible, KillPoint.need),
    arguments: [
      ["set", "n", "k", "v"], ["merge", "a", "n", "--create"], ["clone", "a", "n"],
      ["compact", "a"], ["merge", "a", "b"],
    ])
  func whateverTheUmaskEveryFileIsItsOwnersAlone(_ words: [String]) throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v")
    try folder.must("set", "b", "other", "v")
    let (a, b) = (try Data(contentsOf: folder.url("a")), try Data(contentsOf: folder.url("b")))
    // Without a umask nothing but the program itself keeps others out.
    func run(_ environment: [String]) throws -> Ending {
      let script = #"umask 0; exec env "$@""#
      return try Command.run(
        Command.find("sh"), ["-c", script, "sh"] + environment + [Command.kvsync.get()] + words,
        in: folder.path)
    }
    let points = try KillPoint.points { environment in
      let ending = try run(environment)
      try #require(ending.code == 0, "\(ending)")
    }
    var seen: Set<String> = []
    for point in Seeds.some(of: points, debug: 3) {
      try folder.shell("sh", "-c", "rm -rf n* a-* b-* *.lease")
      try a.write(to: folder.url("a"))
      try b.write(to: folder.url("b"))
      let ending = try run(KillPoint.environment(at: point))
      #expect(ending.code == 128 + SIGKILL, "call \(point): \(ending)")
      for found in try modes(folder) {
        let name = found.replacing(/-[0-9a-f]{16}/, with: "-…")
        seen.insert(name)
        // A lease is empty, and readable by all users.
        let mode = name.hasSuffix("/ 700") ? "700" : name.contains(".lease ") ? "644" : "600"
        #expect(name.hasSuffix(" " + mode), "call \(point): \(found)")
      }
    }
    let expected: Set =
      switch words[0] {
      case "merge" where words.count == 3: ["a 600", "a-wal 600", "a-shm 600", "a.lease 644"]
      case "compact": ["a 600", "a-wal 600", "a-shm 600", "a.lease 644"]
      default: ["n 600", "n.new-…/ 700", "n.new-…/device 600", "n.new-…/device-wal 600"]
      }
    #expect(seen.isSuperset(of: expected), "\(seen.sorted())")
  }
}
