// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A command line that cannot be used, and the one line that says so.
struct Misuse: CustomTestStringConvertible, Sendable {
  let words: [String]
  let line: String

  init(_ words: String..., says line: String) {
    self.words = words
    self.line = line
  }

  var testDescription: String { words.description }
}

private func time(_ command: String) -> String {
  "not a time; write 2026-11-20T10:00:00Z, or milliseconds since 1970; see kvsync help \(command)"
}
private func range(_ command: String) -> String {
  "this time is out of range; use one from 1970 to 6429; see kvsync help \(command)"
}
private func duration(_ command: String) -> String {
  "not a duration; write a number and ms, s, m, h or d, as in 90s; see kvsync help \(command)"
}
private let key = "good: the key is empty; use a key of at least one character"
private let store = "good: the store name is empty; name a store"

private let misuses: [Misuse] = [
  Misuse("get", "good", "", says: key),
  Misuse("set", "good", "", "v", says: key),
  Misuse("delete", "good", "", says: key),
  Misuse("get", "good", "k", "--store", "", says: store),
  Misuse("set", "good", "k", "v", "--store", "", says: store),
  Misuse("delete", "good", "k", "--store", "", says: store),
  Misuse("list", "good", "--store", "", says: store),
  Misuse("seed", "good", "table.plist", "--store", "", says: store),
  Misuse("import", "good", "lines", "--store", "", says: store),
  Misuse("merge", "good", "new", "--create", "--store", "", says: store),
  Misuse("bogus", says: "(command line): there is no command bogus; see kvsync help"),
  Misuse("lst", says: "(command line): there is no command lst; did you mean list?"),
  Misuse("lst", "--help", says: "(command line): there is no command lst; did you mean list?"),
  Misuse("help", "lst", says: "(command line): there is no command lst; did you mean list?"),
  Misuse(
    "mrege", "good", "bad", says: "(command line): there is no command mrege; did you mean merge?"),
  Misuse(
    "Conflict", says: "(command line): there is no command Conflict; did you mean conflicts?"),
  Misuse("x", says: "(command line): there is no command x; see kvsync help"),
  Misuse(
    "list", "good", "--josn",
    says: "good: unknown option '--josn'. Did you mean '--json'?; see kvsync help list"),
  Misuse("get", says: "(command line): missing expected argument '<file>'; see kvsync help get"),
  Misuse("get", "good", says: "good: missing expected argument '<key>'; see kvsync help get"),
  Misuse(
    "set", "good", "k", says: "good: missing expected argument '<value>'; see kvsync help set"),
  Misuse("delete", "good", says: "good: missing expected argument '<key>'; see kvsync help delete"),
  Misuse("list", says: "(command line): missing expected argument '<file>'; see kvsync help list"),
  Misuse("seed", "good", says: "good: missing expected argument '<path>'; see kvsync help seed"),
  Misuse(
    "import", "good", says: "good: missing expected argument '<input>'; see kvsync help import"),
  Misuse(
    "merge",
    says: "(command line): missing expected argument '<files> ...'; see kvsync help merge"),
  Misuse("merge", "good", says: "good: name two or more files; see kvsync help merge"),
  Misuse("get", "good", "k", "more", says: "good: unexpected argument 'more'; see kvsync help get"),
  Misuse(
    "set", "good", "k", "v", "--store",
    says: "good: missing value for '--store <store>'; see kvsync help set"),
  Misuse(
    "list", "good", "--at", "99999999999999999",
    says: "good: the value '99999999999999999' is invalid for '--at <at>': " + range("list")),
  Misuse(
    "set", "new", "k", "v", "--at=-1",
    says: "new: the value '-1' is invalid for '--at <at>': " + range("set")),
  Misuse(
    "merge", "good", "new", "--create", "--at", "6430-01-01",
    says: "good: the value '6430-01-01' is invalid for '--at <at>': " + range("merge")),
  Misuse(
    "get", "good", "k", "--at", "2026-02-30T00:00:00Z",
    says: "good: the value '2026-02-30T00:00:00Z' is invalid for '--at <at>': " + time("get")),
  Misuse(
    "delete", "good", "k", "--at", "",
    says: "good: the value '' is invalid for '--at <at>': " + time("delete")),
  Misuse(
    "get", "good", "k", "--busy-timeout", "5",
    says: "good: the value '5' is invalid for '--busy-timeout <busy-timeout>': " + duration("get")),
  Misuse(
    "seed", "new", "table.plist", "--busy-timeout", "5w",
    says: "new: the value '5w' is invalid for '--busy-timeout <busy-timeout>': "
      + duration("seed")),
  Misuse(
    "import", "new", "lines", "--busy-timeout=-1s",
    says: "new: the value '-1s' is invalid for '--busy-timeout <busy-timeout>': "
      + duration("import")),
  Misuse(
    "merge", "good", "new", "--create", "--max-clock-skew", "1.5h",
    says: "good: the value '1.5h' is invalid for '--max-clock-skew <max-clock-skew>': "
      + duration("merge")),
  Misuse(
    "list", "good", "--busy-timeout", "9999999999d",
    says: "good: the value '9999999999d' is invalid for '--busy-timeout <busy-timeout>': "
      + "this duration is out of range; use a shorter one; see kvsync help list"),
]

@Suite struct UsageTests {
  @Test(arguments: misuses)
  func aCommandLineThatCannotBeUsedChangesNothing(_ misuse: Misuse) throws {
    let folder = try Folder.furnished()
    let before = try folder.everything()
    #expect(
      try folder.run(misuse.words) == Ending(stderr: "kvsync: \(misuse.line)\n", code: 64))
    #expect(try folder.everything() == before)
  }

  @Test(arguments: Seeds.some(of: FileCommand.allCases, debug: 4))
  func anUnknownOptionIsRefused(_ command: FileCommand) throws {
    let folder = try Folder.furnished()
    let ending = try folder.run(command.arguments("new") + ["--bogus"])
    #expect(ending.code == 64 && ending.stdout == "")
    #expect(ending.stderr.contains(": unknown option '--bogus'; "), "\(ending)")
    #expect(ending.stderr.split(separator: "\n").count == 1, "\(ending)")
    #expect(!folder.exists("new"))
  }

  @Test func anUnknownTypeNamesTheKnownOnesInOneLine() throws {
    let folder = try Folder()
    let ending = try folder.run(["set", "a", "k", "v", "--type", "text"])
    #expect(ending.code == 64 && ending.stdout == "" && ending.stderr.hasPrefix("kvsync: "))
    #expect(ending.stderr.split(separator: "\n").count == 1, "\(ending)")
    for type in ["string", "integer", "real", "boolean", "date", "data", "json"] {
      #expect(ending.stderr.contains(type))
    }
    #expect(try folder.names() == [])
  }

  @Test(arguments: [[], ["--help"], ["get", "--help"], ["help", "merge"]])
  func helpGoesToStandardOutputAndIsNoFailure(_ words: [String]) throws {
    let ending = try Folder().run(words)
    #expect(ending.code == 0 && ending.stderr == "" && ending.stdout.contains("USAGE: kvsync"))
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func aShellIsGivenItsCompletions(_ shell: String) throws {
    let ending = try Folder().run(["--generate-completion-script", shell])
    #expect(ending.code == 0 && ending.stderr == "")
    for word in ["explain", "max-clock-skew", "jsonl"] { #expect(ending.stdout.contains(word)) }
  }

  @Test(arguments: [
    "merge", "diff", "get", "set", "delete", "list", "explain", "watch", "seed", "import", "export",
    "conflicts", "peers", "clone", "doctor", "compact",
  ])
  func helpShowsAnExampleOfEveryCommandAndItsCommonOptions(_ command: String) throws {
    let help = try Folder().run(["help", command]).stdout
    #expect(help.contains("\n  kvsync \(command) ") || help.contains(" | kvsync \(command) "))
    for option in ["--json", "--quiet", "--at", "--busy-timeout"] { #expect(help.contains(option)) }
  }

  @Test(arguments: [
    ("merge", "max-clock-skew", "5m"), ("compact", "keep", "90d"), ("get", "busy-timeout", "5s"),
    ("get", "at", "this machine's clock"), ("list", "store", "all"),
    ("diff", "store", "the synced ones"), ("set", "type", "string"), ("export", "format", "jsonl"),
    ("plist", "idiom", "none"),
    ("seed", "limit", "panes=20000, pane-depth=16, bytes=67108864, elements=1000000,"),
  ])
  func helpTellsWhatAnOptionIsIfItIsNotGiven(_ command: String, _ option: String, _ value: String)
    throws
  {
    let help = try Folder().run(["help", command]).stdout
    let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let start = try #require(words.range(of: " --\(option) <"))
    let told = words[start.upperBound...]
    // Another option's would come behind that option's name.
    let isNext = told.firstMatch(of: /\ --[a-z-]+ </).map { told[..<$0.startIndex] } ?? told
    #expect(isNext.contains("default: \(value)"), "\(told)")
  }

  @Test func anArgumentThatIsNotUTF8IsRefusedAndNotReplaced() throws {
    let folder = try Folder.furnished()
    let ending = try Command.run(
      Command.find("sh"), ["-c", #""$0" set good "$(printf '\377')" v"#, Command.kvsync.get()],
      in: folder.path)
    #expect(
      ending
        == Ending(
          stderr: "kvsync: (command line): argument 3 is not UTF-8; "
            + "use names and values in UTF-8\n", code: 64))
  }

  @Test(arguments: FileCommand.allCases)
  func aPathWithALineBreakStillMakesOneLine(_ command: FileCommand) throws {
    let folder = try Folder.furnished()
    let ending = try folder.run(command.arguments("none\nsuch/file"))
    #expect(ending.code >= 64 && ending.stdout == "" && ending.stderr.hasPrefix("kvsync: none"))
    #expect(ending.stderr.split(separator: "\n").count == 1, "\(ending)")
  }
}
