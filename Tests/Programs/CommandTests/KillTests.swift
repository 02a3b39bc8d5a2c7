// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct KillTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

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
    let columns = "store, quote(key), type, quote(value), timestamp, replica_id"
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

  /// Kills a command again and again.
  ///
  /// - Parameters:
  ///   - restore: a script before each run.
  ///   - check: looks at what each run has left.
  private func killEach(
    _ arguments: [String], restore: String, check: (Comment) throws -> Void
  ) throws {
    try folder.shell("sh", "-c", restore)
    let duration = try ContinuousClock().measure { _ = try folder.run(arguments) }
    var kills = 0
    for seed in Seeds.list(Self.tries) {
      try folder.shell("sh", "-c", restore)
      if try kill(folder, arguments, within: duration, seed: seed) { kills += 1 }
      try check("seed \(seed)")
    }
    #expect(kills > 0)
  }

  @Test func aKilledImportLeavesAllOfItOrNothing() throws {
    try folder.write(lines("a"), to: "in")
    try folder.must("set", "old", "before", "v", Moment.ten.argument)
    try killEach(["import", "a", "in"], restore: "rm -f a a-*; cp old a") { comment in
      try expectWhole(folder, "a")
      let count = try folder.shell("sqlite3", "a", "SELECT count(*) FROM entry")
      #expect(["1\n", "\(Self.count + 1)\n"].contains(count), comment)
      try folder.expect("import", "a", "in", "--quiet", Moment.ten.argument)
      #expect(
        try folder.shell("sqlite3", "a", "SELECT count(*) FROM entry") == "\(Self.count + 1)\n")
    }
  }

  @Test func aKilledMergeIsMadeGoodByTheNextOne() throws {
    for name in ["a", "b"] {
      try folder.must("set", name, "before", name, Moment.ten.argument)
      try folder.write(lines(name), to: "lines")
      try folder.must("import", name, "lines", Moment.eleven.argument)
    }
    let merge = ["merge", "x", "y", "--json", Moment.eleven.argument]
    let restore = "rm -f x-* y-* && cp a x && cp b y"
    try folder.shell("sh", "-c", restore)
    _ = try folder.run(merge)
    let wanted = try entries(folder, "x")
    #expect(try entries(folder, "y") == wanted)
    try killEach(merge, restore: restore) { comment in
      for file in ["x", "y"] { try expectWhole(folder, file) }
      let again = try folder.run(merge)
      #expect(again.stdout.hasPrefix(#"{"converged":true,"#), comment)
      #expect(again.stdout.hasSuffix("\"events\":[]}\n"), comment)
      for file in ["x", "y"] { #expect(try entries(folder, file) == wanted, comment) }
    }
  }

  @Test func aKilledCloneLeavesAWholeOneOrNone() throws {
    try folder.write(lines("a"), to: "in")
    try folder.must("set", "a", "before", "v", Moment.ten.argument)
    try folder.must("import", "a", "in", Moment.ten.argument)
    let original = try folder.digests("a")
    let identity = try folder.replica("a")
    let wanted = try entries(folder, "a")
    try killEach(["clone", "a", "b"], restore: "rm -rf b*") { comment in
      guard folder.exists("b") else { return }
      try expectWhole(folder, "b")
      #expect(try entries(folder, "b") == wanted, comment)
      #expect(try folder.replica("b") != identity, comment)
      // What it may have left under another name, a repair removes.
      try folder.must("doctor", "b", "--repair", Moment.ten.argument)
      #expect(try folder.names().filter { $0.hasPrefix("b.new-") } == [], comment)
    }
    #expect(try folder.digests("a") == original)
  }

  @Test func aKilledCompactionLosesNothing() throws {
    try folder.write(lines("a"), to: "in")
    try folder.must("set", "old", "before", "v", Moment.ten.argument)
    try folder.must("import", "old", "in", Moment.ten.argument)
    try folder.shell("sqlite3", "old", "UPDATE entry SET value = 'short'")
    let wanted = try entries(folder, "old")
    try killEach(["compact", "a"], restore: "rm -f a a-*; cp old a") { comment in
      try expectWhole(folder, "a")
      #expect(try entries(folder, "a") == wanted, comment)
      #expect(try folder.replica("a") == folder.replica("old"), comment)
    }
  }
}
