// SPDX-License-Identifier: Apache-2.0
//
// Output for terminals and not for pipes: colours, escapes, shortened lists.

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct TerminalTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  private let plain = Pseudoterminal(environment: ["NO_COLOR": "1"])

  // MARK: - Colours

  @Test(arguments: [[:], ["NO_COLOR": ""], ["TERM": "xterm"]])
  func aTerminalHasColours(_ environment: [String: String]) throws {
    let folder = try Folder.furnished()
    let colourful = Pseudoterminal(environment: environment)
    try folder.must("set", "other", "k", "w", Moment.eleven.argument)
    #expect(
      try colourful.run(folder, ["list", "good"]).stdout
        == "\u{1B}[36mcloud\tk\u{1B}[0m\tstring\t\"v\"\n")
    #expect(
      try colourful.run(folder, ["diff", "good", "other"]).stdout
        == "\u{1B}[36mcloud\tk\u{1B}[0m\t\u{1B}[31m\"v\"\u{1B}[0m\t\u{1B}[32m\"w\"\u{1B}[0m\n"
        + "kvsync: 1 key differs\n")
    #expect(
      try colourful.run(folder, ["get", "none", "k"]).stdout.hasPrefix(
        "\u{1B}[1;31mkvsync:\u{1B}[0m none: "))
  }

  @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]])
  func whereColoursAreNotWantedThereAreNone(_ environment: [String: String]) throws {
    let folder = try Folder.furnished()
    let colourless = Pseudoterminal(environment: environment)
    for words in [["list", "good"], ["explain", "good", "k"], ["get", "none", "k"], ["lst"]] {
      #expect(try !colourless.run(folder, words).stdout.contains("\u{1B}"), "\(words)")
    }
  }

  // MARK: - Escapes

  @Test func aTerminalActsOnNothingThatIsPrinted() throws {
    let odd = "a\u{1B}[31m\u{7}\u{7F}\u{9B}2J\u{202E}\u{2066}\r\u{200B}\u{FEFF}\u{AD}\u{E0041}z"
    let line = JSON.object([
      "key": .string(odd), "type": .string("string"), "value": .string(odd),
    ])
    try folder.write(line.text(), to: "in")
    try folder.must("import", "a", "in", "--quiet", Moment.ten.argument)
    try folder.must("import", "b", "in", "--quiet", Moment.ten.argument)
    try folder.must("set", "a", "k\u{202E}", "\u{1B}]0;t\u{7}", Moment.eleven.argument)
    let table = defaultsTable.replacingOccurrences(of: "theme", with: "a\u{202E}")
    try folder.write(table, to: "table.plist")
    for words in [
      ["get", "a", odd], ["get", "a", odd, "--json"], ["list", "a"], ["list", "a", "--json"],
      ["explain", "a", odd], ["export", "a"], ["export", "a", "--format", "json"],
      ["diff", "a", "b"], ["merge", "a", "b"], ["plist", "table.plist"],
      ["plist", "table.plist", "--json"], ["get", "a", odd + "?"], ["get", odd, "k"],
      ["set", "a", "k", "v", "--type", odd], ["--" + odd], [odd],
    ] {
      let seen = try plain.run(folder, words).stdout
      #expect(!seen.isEmpty)
      let bad = seen.unicodeScalars.filter {
        $0 != "\n" && $0 != "\t"
          && ($0.properties.generalCategory == .control || $0.properties.isBidiControl
            || $0.properties.isDefaultIgnorableCodePoint)
      }
      #expect(bad.isEmpty, "\(words) \(bad)")
    }
    // A program gets what is there.
    try folder.expect("get", "a", "--", odd, prints: odd + "\n")
    try folder.write(try plain.run(folder, ["export", "a"]).stdout, to: "shown")
    try folder.must("import", "c", "shown")
    #expect(try folder.contents("c").contains(JSON.string(odd).text()))
  }

  // MARK: - Long lists

  @Test func aLongListOfChangesLeavesRoomForItsEnd() throws {
    let lines = (0..<1100).map {
      #"{"key":"key\#(1000 + $0)","type":"integer","value":\#($0)}"# + "\n"
    }
    try folder.write(lines.joined(), to: "in")
    try folder.must("import", "a", "in", "--quiet", Moment.ten.argument)
    let merge = { file in ["merge", "a", file, "--create", Moment.ten.argument] }
    let seen = try plain.run(folder, merge("b")).stdout
    let shown = (0..<15).map { "  b  cloud/key\(1000 + $0): nothing -> \($0)\n" }.joined()
    #expect(
      Pseudoterminal.screen(seen) == """
        b -> a: 0 received, 0 changed
        a -> b: 1100 received, 1100 changed
        \(shown)  … and 1,085 more; --all-changes lists them
        All files hold the same.

        """)
    let all = try plain.run(folder, merge("c") + ["--all-changes"]).stdout
    #expect(!all.contains("more") && all.split(separator: "\n").count == 2 + 1100 + 1)
  }
}
