// SPDX-License-Identifier: Apache-2.0
//
// Keys, stores and files whose names could be taken for more than one line or column.

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct OddNameTests {
  private static let names = [
    "a\nb", "a\tb", "a\u{0}b", "\r\n", "\u{7f}", "\u{1b}[31m", " ", "\"quoted\"", "back\\slash",
    "e\u{301}", "é", "cloud", "-", "--json", "/", "%00", String(repeating: "k", count: 1018),
  ]

  /// A device `odd` that has a key of each name in stores of each name, of which half travel.
  private func furnished() throws -> Folder {
    let folder = try Folder.furnished()
    let lines = Self.names.flatMap { name in
      ["cloud", "cloud:" + name, "x" + name].map { store in
        JSON.object([
          "store": .string(store), "key": .string(name), "type": .string("string"),
          "value": .string(name),
        ]).text()
      }
    }
    try folder.write(lines.joined(separator: "\n"), to: "odd.jsonl")
    try folder.must("import", "odd", "odd.jsonl", Moment.ten.argument)
    return folder
  }

  private var travelling: Int { 2 * Self.names.count }

  private func lines(_ text: String) -> [Substring] {
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
  }

  private func expectColumns(_ count: Int, in lines: [Substring], _ what: String) {
    for line in lines {
      #expect(
        line.split(separator: "\t", omittingEmptySubsequences: false).count == count, "\(what)")
    }
  }

  /// Checks by another program's reading that there is one JSON value a line.
  private func expectJSON(_ folder: Folder, _ text: String, lines count: Int) throws {
    try folder.write(text, to: "json")
    let script = "import json, sys\nfor line in open('json', newline='\\n'): json.loads(line)"
    try folder.shell("python3", "-c", script)
    #expect(lines(text).count == count)
  }

  @Test func everyRecordIsOneLine() throws {
    let folder = try furnished()
    let listed = lines(try folder.must("list", "odd"))
    #expect(listed.count == 3 * Self.names.count)
    expectColumns(4, in: listed, "list")
    try expectJSON(folder, try folder.must("export", "odd"), lines: 3 * Self.names.count)
    let compared = lines(try folder.run(["diff", "odd", "good"]).stdout)
    #expect(compared.count == travelling + 1)  // Both have k or another key of cloud.
    expectColumns(4, in: compared, "diff")
    for command in ["list", "export", "conflicts", "peers", "doctor"] {
      try expectJSON(folder, try folder.must(command, "odd", "--json"), lines: 1)
    }
    try expectJSON(folder, try folder.run(["diff", "good", "odd", "--json"]).stdout, lines: 1)
    let merged = try folder.must("merge", "odd", "new", "--create", Moment.ten.argument)
    #expect(lines(merged).count == 2 + travelling + 1, "two transfers, the end")
    try expectJSON(
      folder, try folder.must("merge", "odd", "newer", "--create", "--json"), lines: 1)
    let peers = lines(try folder.must("peers", "new"))
    #expect(peers.count == 1)
    // Its name, when it was met, and each store.
    expectColumns(2 + Self.names.count + 1, in: peers, "peers")
  }

  @Test func whatLostIsOneLineAndComesBack() throws {
    let folder = try furnished()
    try folder.must("clone", "odd", "other")
    let names = Self.names.filter { !$0.contains("\u{0}") && !$0.hasPrefix("-") }
    for (file, time) in [("odd", Moment.eleven), ("other", Moment.twelve)] {
      let lines = names.map { name in
        JSON.object([
          "store": .string("cloud:" + name), "key": .string(name), "type": .string("string"),
          "value": .string(file),
        ]).text()
      }
      try folder.write(lines.joined(separator: "\n"), to: "lines")
      try folder.must("import", file, "lines", time.argument)
    }
    let merged = lines(try folder.must("merge", "odd", "other", Moment.twelve.argument))
    #expect(merged.count == 2 + 2 * names.count + 1, "two transfers, the end")
    let lost = lines(try folder.must("conflicts", "odd"))
    #expect(lost.count == names.count)
    expectColumns(6, in: lost, "conflicts")
    for (number, name) in Seeds.some(of: names.enumerated(), debug: 5) {
      let words = ["explain", "odd", name, "--store", "cloud:" + name]
      #expect(lines(try folder.run(words).stdout).count == 3, "\(name.prefix(9))")
      try expectJSON(folder, try folder.run(words + ["--json"]).stdout, lines: 1)
      let restored = try folder.must("conflicts", "odd", "--restore", "\(number + 1)")
      #expect(lines(restored).count == 1 && restored.hasSuffix(" is again \"odd\"\n"))
    }
  }

  @Test func everyNameThatCanBeTypedIsSetReadAndDeleted() throws {
    let folder = try Folder()
    for name in Seeds.some(of: Self.names, debug: 3) where !name.contains("\u{0}") {
      try folder.must("set", "a", "--store=\(name)", "--", name, "v")
      try folder.expect("get", "a", "--store=\(name)", "--", name, prints: "v\n")
      let seen = try folder.run(["get", "a", "--", name + "?"])
      #expect(seen.code == 1 && lines(seen.stderr).count == 1, "\(name.prefix(9))")
      try folder.must("delete", "a", "--store=\(name)", "--", name)
      let gone = try folder.run(["get", "a", "--store=\(name)", "--", name])
      #expect(gone.code == 1 && gone.stdout == "", "\(name.prefix(9))")
    }
  }

  @Test func aDefaultOfAnOddNameIsOneLine() throws {
    let folder = try Folder()
    let table = defaultsTable.replacingOccurrences(of: "theme", with: "a\nb")
    try folder.write(table, to: "odd\ttable.plist")
    try folder.must("seed", "a", "odd\ttable.plist", "--store", "st\tore")
    let listed = lines(try folder.must("list", "a", "--defaults"))
    #expect(listed.count == 2)
    expectColumns(5, in: listed, "list --defaults")
    let explained = try folder.must("explain", "a", "a\nb", "--store", "st\tore")
    #expect(lines(explained).count == 2 && !explained.contains("\t"), "\(explained)")
  }

  @Test func aFileOfAnOddNameIsOneLine() throws {
    let folder = try Folder.furnished()
    try folder.shell("cp", "good", "a\nb")
    #expect(lines(try folder.must("doctor", "a\nb", Moment.ten.argument)).count == 1)
    #expect(lines(try folder.must("clone", "good", "c\nd")).count == 1)
    try folder.must("set", "c\nd", "k", "w", Moment.eleven.argument)
    // Two transfers, the change, the loser, the copy's new replica ID, and the end.
    try folder.must("merge", "a\nb", "c\nd", Moment.eleven.argument)
    try folder.must("set", "a\nb", "k", "x", Moment.twelve.argument)
    let merged = lines(try folder.must("merge", "good", "a\nb", Moment.twelve.argument))
    #expect(merged.count == 6, "\(merged)")
  }

  @Test func whatIsWatchedIsOneLine() throws {
    let folder = try Folder.furnished()
    let script = """
      "$0" watch good >seen 2>said & while ! [ -s said ]; do sleep 0.02; done
      "$0" import good odd.jsonl --quiet; "$0" set good end v
      while ! grep -q ^cloud/end seen; do sleep 0.02; done; kill -INT $!; wait $!
      """
    let odd = try furnished()
    try folder.shell("cp", odd.path + "/odd.jsonl", "odd.jsonl")
    try folder.shell("sh", "-c", script, Command.kvsync.get())
    let seen = String(decoding: try Data(contentsOf: folder.url("seen")), as: UTF8.self)
    #expect(lines(seen).count == 3 * Self.names.count + 1)
  }
}
