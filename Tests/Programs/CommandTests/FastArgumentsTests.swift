// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Plain words of `get` and `set` the command reads by itself; ArgumentParser reads all others, and
/// these too with a `--` behind them, which changes nothing else.
@Suite struct FastArgumentsTests {
  private static let options = [
    [], ["--json"], ["--quiet"], ["--stored"], ["--json", "--json"], ["--store", "defaults"],
    ["--store", "nowhere"], ["--store", ""], ["--store"], ["--store=defaults"], ["--store", "-x"],
    ["--store", "cloud", "--store", "defaults"], ["--store", "--json"], ["--jso"], ["-j"], ["-"],
    ["--type", "integer"], ["--type", "Integer"], ["--type", "real", "--json"], ["--help"], ["-h"],
    ["--version"], ["help"], ["--at", "0"], ["--busy-timeout", "1s", "--quiet", "--json"],
    ["--json", "--quiet", "--store", "defaults", "--stored"], ["--unknown"], [""], ["more"],
  ]

  private func compare(
    _ words: [String], _ folder: Folder, outcome: () throws -> String = { "" }
  ) throws {
    // But when, and by whom.
    let names = /"(modified|timestamp|origin)":"[^"]*"/
    func said(_ words: [String]) throws -> String {
      let ending = try folder.run(words)
      return "\(ending.code)\n\(ending.stdout)\n\(ending.stderr)\n\(try outcome())"
        .replacing(names, with: "")
    }
    #expect(try said(words) == said(words + ["--"]), "\(words)")
  }

  @Test func getReadsWordsAsArgumentParserDoes() throws {
    let folder = try Folder.furnished()
    try folder.must("set", "good", "k", "w", "--store", "defaults")
    for option in Seeds.some(of: Self.options, debug: 12) {
      for words in [
        ["get", "good", "k"] + option, ["get"] + option + ["good", "none"],
        ["get", "missing"] + option + ["k"], ["get", "good"] + option, ["get"] + option,
      ] { try compare(words, folder) }
    }
  }

  @Test func setReadsWordsAsArgumentParserDoes() throws {
    let folder = try Folder.furnished()
    for option in Seeds.some(of: Self.options, debug: 12) {
      for words in [
        ["set", "good", "k", "7"] + option, ["set"] + option + ["good", "k", "1.5"],
        ["set", "good", "k"] + option,
      ] {
        try compare(words, folder) {
          let file = try folder.must("list", "good", "--json")
          try folder.must("set", "good", "k", "v", "--quiet")
          return file
        }
      }
    }
  }
}
