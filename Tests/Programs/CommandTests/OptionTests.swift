// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Options that cannot be used, with every command; nothing is touched.
@Suite struct OptionTests {
  private let folder: Folder
  init() throws { folder = try Folder.furnished() }

  private static let time = "not a time; write 2026-11-20T10:00:00Z, or milliseconds since 1970"
  private static let range = "this time is out of range; use one from 1970 to 6429"
  private static let duration = "not a duration; write a number and ms, s, m, h or d, as in 90s"
  private static let long = "this duration is out of range; use a shorter one"

  private static let options: [(name: String, words: [String], complaint: String)] = [
    ("at", ["", "now", "1.5", "2026-02-30T00:00:00Z", "2026-11-20T10:00", "1e3"], time),
    (
      "at",
      [
        "-1", "140737488355328", "99999999999999999", "9223372036854775807", "1969-12-31",
        "6430-01-01",
      ], range
    ),
    (
      "busy-timeout", ["5", "", "-1s", "1.5s", "5 s", "5w", "s", "99999999999999999999s"], duration
    ),
    ("busy-timeout", ["9999999999d", "9223372036854775807d"], long),
    ("keep", ["1", "-1d", "x", "1.5d"], duration), ("keep", ["1628907d"], long),
    ("max-clock-skew", ["1", "-1d", "x", "1.5h"], duration), ("max-clock-skew", ["1628907d"], long),
  ]

  private func command(_ words: [String], takes option: String) -> Bool {
    switch option {
    case "keep": words[0] == "compact"
    case "max-clock-skew": words[0] == "merge"
    default: true
    }
  }

  @Test(arguments: Seeds.some(of: FileCommand.allCases, debug: 8))
  func timesAndDurationsThatCannotBeUsedAreRefused(_ command: FileCommand) throws {
    let before = try folder.everything()
    let words = command.arguments("new")
    for (name, values, complaint) in Self.options where self.command(words, takes: name) {
      // All for one, one for the others: the option is the same everywhere.
      for value in command == .get || name == "keep" ? values : [values[1 % values.count]] {
        // ArgumentParser takes what starts with a dash for another option.
        let option = value.hasPrefix("-") ? ["--\(name)=\(value)"] : ["--\(name)", value]
        let line =
          "kvsync: \(words[1]): the value '\(value)' is invalid for '--\(name) <\(name)>': "
          + "\(complaint); see kvsync help \(words[0])\n"
        try folder.expect(words + option, says: line, code: 64)
      }
    }
    #expect(try folder.everything() == before)
  }

  @Test func theFirstAndTheLastMomentAreTimes() throws {
    for time in ["0", "140737488355327", "1970-01-01", "6429-10-17"] {
      try folder.must("set", "good", "k", time, "--at", time)
      try folder.must("compact", "good", "--at", time, "--keep", "1628906d")
      let merge = ["merge", "good", "new", "--create", "--dry-run", "--at", time]
      for skew in [[], ["--max-clock-skew", "1628906d"]] {
        #expect(try folder.run(merge + skew).code == 0)
      }
    }
    try folder.expect("get", "good", "k", prints: "6429-10-17\n")
  }

  @Test(arguments: Seeds.some(of: FileCommand.allCases, debug: 3))
  func wordsThatAreNotUTF8AreRefused(_ command: FileCommand) throws {
    let before = try folder.everything()
    let words = command.arguments("good")
    // The place of each word but the command in turn, in which a byte is appended.
    for place in 1..<words.count {
      let script = """
        place=\(place); i=0; tool=$1; shift
        for word do i=$((i + 1)); shift
          if [ $i -eq $((place + 1)) ]; then word=$(printf '%s\\377' "$word"); fi
          set -- "$@" "$word"; done
        "$tool" "$@"
        """
      let ending = try Command.run(
        Command.find("sh"), ["-c", script, "sh", try Command.kvsync.get()] + words,
        in: folder.path)
      #expect(
        ending
          == Ending(
            stderr: "kvsync: (command line): argument \(place + 1) is not UTF-8; "
              + "use names and values in UTF-8\n", code: 64), "\(words)")
    }
    #expect(try folder.everything() == before)
  }

  @Test func aConflictThatIsNotThereCannotBeRestored() throws {
    try folder.addPeerAndConflict(to: "good")
    let before = try folder.contents("good")
    for number in ["-1", "0", "2", "9223372036854775807", "-9223372036854775808"] {
      try folder.expect(
        "conflicts", "good", "--restore=\(number)",
        says: "kvsync: good: there is no conflict \(number); "
          + "see kvsync conflicts for those there are\n", code: 64)
    }
    for number in ["x", "1.5", "9223372036854775808", "1 "] {
      try folder.expect(
        "conflicts", "good", "--restore", number,
        says: "kvsync: good: the value '\(number)' is invalid for '--restore <restore>'; "
          + "see kvsync help conflicts\n", code: 64)
    }
    try folder.expect(
      "conflicts", "good", "--restore", "1", "--store", "cloud",
      says: "kvsync: good: the conflict to --restore is named by its number alone, "
        + "without --store; see kvsync help conflicts\n", code: 64)
    #expect(try folder.contents("good") == before)
  }

  @Test(arguments: ["get good -hello", "list -dash", "delete good -xh"])
  func helpThatHidesInAWordIsNotShown(_ line: String) throws {
    let words = line.split(separator: " ").map(String.init)
    let option = try #require(words.last)
    try folder.expect(
      words,
      says: "kvsync: (command line): unknown option '\(option)'; "
        + "a value that starts with - follows --\n", code: 64)
  }

  /// After `--` the option would have none.
  @Test func anOptionsValueThatStartsWithADashFollowsItsEqualsSign() throws {
    let folder = try Folder()
    let cure = "a value that starts with - follows --, or the = of its option\n"
    try folder.expect(
      "set", "a", "k", "v", "--store", "-x",
      says: "kvsync: a: missing value for '--store <store>'; \(cure)", code: 64)
    try folder.expect(
      "set", "a", "k", "v", "--store", "-shop",
      says: "kvsync: (command line): unknown option '-shop'; \(cure)", code: 64)
    try folder.expect("set", "a", "k", "v", "--store=-x")
    try folder.expect("get", "a", "k", "--store=-x", prints: "v\n")
  }

  @Test func aWordBehindAnOptionIsNotTakenForTheFile() throws {
    try Folder().expect(
      "list", "--store", "cloud",
      says: "kvsync: (command line): missing expected argument '<file>'; see kvsync help list\n",
      code: 64)
  }

  @Test func everyCommandIsInTheTable() throws {
    let help = try Folder().must("--help")
    let list = try #require(help.split(separator: "SUBCOMMANDS:").last)
    let commands = list.split(separator: "\n").compactMap { line in
      line.firstMatch(of: /^\x20{2}([a-z]+) {2}/).map { String($0.1) }
    }
    // `plist` works on no device file, `restore` on one whatever is wrong with it (`RestoreTests`),
    // `hub` in another program.
    #expect(
      Set(commands).subtracting(["plist", "restore", "hub"])
        == Set(FileCommand.allCases.map { $0.arguments("f")[0] }))
  }
}
