// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct KillTests {
  private static let count = 4000
  private static let tries = Seeds.rounds(12, debug: 6)

  /// Many lines of import, whose keys and values tell whose they are.
  private func lines(_ name: String) -> String {
    (0..<Self.count).map {
      let key = $0 % 4 == 0 ? "both\($0)" : "\(name)\($0)"
      return #"{"key":"\#(key)","type":"string","value":"\#(name) \#($0)"}"# + "\n"
    }.joined()
  }

  /// Opens the file with the tool, then checks every page of it with another program.
  private func expectWhole(_ folder: Folder, _ file: String) throws {
    try folder.must("get", file, "before")
    #expect(try folder.shell("sqlite3", file, "PRAGMA integrity_check") == "ok\n", "\(file)")
  }

  private func entries(_ folder: Folder, _ file: String) throws -> String {
    let columns = "store, quote(key), tag, quote(value), hlc, origin"
    return try folder.shell(
      "sqlite3", file, "SELECT \(columns) FROM entry ORDER BY store, key")
  }

  /// Runs a command and kills it at a random moment of the time that it takes.
  private func kill(
    _ folder: Folder, _ arguments: [String], within duration: Duration, seed: UInt64
  ) throws -> Bool {
    var generator = SeededGenerator(seed: seed)
    let life = Double.random(in: 0..<1, using: &generator) * (duration / .seconds(1))
    let ending = try Command.run(
      Command.kvsync.get(), arguments, in: folder.path, life: life)
    #expect(ending.code == 0 || ending.code == 128 + SIGKILL, "seed \(seed): \(ending)")
    return ending.code != 0
  }

  @Test func aKilledImportLeavesAllOfItOrNothing() throws {
    let folder = try Folder()
    try folder.write(lines("a"), to: "in")
    try folder.must("set", "old", "before", "v", Moment.ten.argument)
    try folder.shell("cp", "old", "a")
    let duration = try ContinuousClock().measure { _ = try folder.must("import", "a", "in") }
    var kills = 0
    for seed in Seeds.list(Self.tries) {
      try folder.shell("rm", "-f", "a", "a-wal", "a-shm")
      try folder.shell("cp", "old", "a")
      if try kill(folder, ["import", "a", "in"], within: duration, seed: seed) { kills += 1 }
      try expectWhole(folder, "a")
      let count = try folder.shell("sqlite3", "a", "SELECT count(*) FROM entry")
      #expect(["1\n", "\(Self.count + 1)\n"].contains(count), "seed \(seed)")
      try folder.expect(
        "import", "a", "in", "--quiet", Moment.ten.argument)
      #expect(
        try folder.shell("sqlite3", "a", "SELECT count(*) FROM entry") == "\(Self.count + 1)\n")
    }
    #expect(kills > 0)
  }

  @Test func aKilledCommandThatMakesAFileLeavesAWholeOneOrNone() throws {
    let folder = try Folder()
    let make = ["set", "a", "before", "v"]
    let duration = try ContinuousClock().measure { _ = try folder.run(make) }
    var kills = 0
    for seed in Seeds.list(Self.tries) {
      try folder.shell("rm", "-f", "a", "a-wal", "a-shm")
      if try kill(folder, make, within: duration, seed: seed) { kills += 1 }
      if folder.exists("a") {
        #expect(try folder.run(["list", "a"]).code == 0, "seed \(seed)")
        #expect(try folder.shell("sqlite3", "a", "PRAGMA integrity_check") == "ok\n")
      }
    }
    #expect(kills > 0)
  }

  @Test func aKilledMergeIsMadeGoodByTheNextOne() throws {
    let folder = try Folder()
    for name in ["a", "b"] {
      try folder.must("set", name, "before", name, Moment.ten.argument)
      try folder.write(lines(name), to: "lines")
      try folder.must("import", name, "lines", Moment.eleven.argument)
    }
    let merge = ["merge", "x", "y", "--json", Moment.eleven.argument]
    let restore = "rm -f x-* y-* && cp a x && cp b y"
    try folder.shell("sh", "-c", restore)
    let duration = try ContinuousClock().measure { _ = try folder.run(merge) }
    let wanted = try entries(folder, "x")
    #expect(try entries(folder, "y") == wanted)
    var kills = 0
    for seed in Seeds.list(Self.tries) {
      try folder.shell("sh", "-c", restore)
      if try kill(folder, merge, within: duration, seed: seed) { kills += 1 }
      for file in ["x", "y"] { try expectWhole(folder, file) }
      let again = try folder.run(merge)
      #expect(again.stdout.hasPrefix(#"{"converged":true,"#), "seed \(seed): \(again)")
      #expect(again.stdout.hasSuffix("\"events\":[]}\n"), "seed \(seed): \(again)")
      for file in ["x", "y"] {
        #expect(try entries(folder, file) == wanted, "seed \(seed) \(file)")
      }
    }
    #expect(kills > 0)
  }

  @Test func aKilledCloneLeavesAWholeOneOrNone() throws {
    let folder = try Folder()
    try folder.write(lines("a"), to: "in")
    try folder.must("set", "a", "before", "v", Moment.ten.argument)
    try folder.must("import", "a", "in", Moment.ten.argument)
    let original = try folder.digests("a")
    let identity = try folder.replica("a")
    let wanted = try entries(folder, "a")
    let clone = ["clone", "a", "b"]
    let duration = try ContinuousClock().measure { _ = try folder.run(clone) }
    var kills = 0
    for seed in Seeds.list(Self.tries) {
      try folder.shell("sh", "-c", "rm -rf b*")
      if try kill(folder, clone, within: duration, seed: seed) { kills += 1 }
      if folder.exists("b") {
        try expectWhole(folder, "b")
        #expect(try entries(folder, "b") == wanted, "seed \(seed)")
        #expect(try folder.replica("b") != identity, "seed \(seed)")
      }
      // What it may have left under another name, a repair removes.
      if folder.exists("b") { try folder.must("doctor", "b", "--repair", Moment.ten.argument) }
      #expect(try folder.names().filter { folder.exists("b") && $0.hasPrefix("b.new-") } == [])
    }
    #expect(kills > 0)
    #expect(try folder.digests("a") == original)
  }

  @Test func aKilledCompactionLosesNothing() throws {
    let folder = try Folder()
    try folder.write(lines("a"), to: "in")
    try folder.must("set", "old", "before", "v", Moment.ten.argument)
    try folder.must("import", "old", "in", Moment.ten.argument)
    try folder.shell("sqlite3", "old", "UPDATE entry SET value = 'short'")
    let wanted = try entries(folder, "old")
    let restore = "rm -f a a-*; cp old a"
    try folder.shell("sh", "-c", restore)
    let duration = try ContinuousClock().measure { _ = try folder.run(["compact", "a"]) }
    var kills = 0
    for seed in Seeds.list(Self.tries) {
      try folder.shell("sh", "-c", restore)
      if try kill(folder, ["compact", "a"], within: duration, seed: seed) { kills += 1 }
      try expectWhole(folder, "a")
      #expect(try entries(folder, "a") == wanted, "seed \(seed)")
      #expect(try folder.replica("a") == folder.replica("old"), "seed \(seed)")
    }
    #expect(kills > 0)
  }
}
