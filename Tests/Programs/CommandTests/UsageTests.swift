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
  Misuse("lst", "--help", says: "(command line): there is no command lst; see kvsync help"),
  Misuse("help", "lst", says: "(command line): there is no command lst; see kvsync help"),
  Misuse("x", says: "(command line): there is no command x; see kvsync help"),
  Misuse(
    "list", "good", "--josn",
    says: "good: unknown option '--josn'. Did you mean '--json'?; see kvsync help list"),
  Misuse("get", says: "(command line): missing expected argument '<file>'; see kvsync help get"),
  Misuse("get", "good", says: "good: missing expected argument '<key>'; see kvsync help get"),
  Misuse(
    "set", "good", "k", says: "good: missing expected argument '<value>'; see kvsync help set"),
  Misuse(
    "set", "good", "k", "-5", "--type", "integer",
    says: "good: missing expected argument '<value>'; a value that starts with - follows --"),
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
]

@Suite struct UsageTests {
  @Test(arguments: misuses)
  func aCommandLineThatCannotBeUsedChangesNothing(_ misuse: Misuse) throws {
    let folder = try Folder.furnished()
    let before = try folder.everything()
    try folder.expect(misuse.words, says: "kvsync: \(misuse.line)\n", code: 64)
    #expect(try folder.everything() == before)
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
    // The script also completes the commands of the program beside kvsync.
    let help = try Folder().run(["help", "hub"]).stdout
    let commands = help.matches(of: /\n  (\w+)  +[A-Z]/).map { String($0.output.1) }
    #expect(commands.count > 8)
    for word in commands { #expect(ending.stdout.contains(word), "\(word)") }
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
    ("merge", "max-clock-skew", "5m"), ("compact", "keep", "365d"), ("get", "busy-timeout", "5s"),
    ("get", "at", "this machine's clock"), ("list", "store", "all"),
    ("diff", "store", "the synced ones"), ("set", "type", "string"), ("export", "format", "jsonl"),
    ("plist", "idiom", "any"),
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

  @Test(arguments: FileCommand.sample)
  func aPathWithALineBreakStillMakesOneLine(_ command: FileCommand) throws {
    let folder = try Folder.furnished()
    let ending = try folder.run(command.arguments("none\nsuch/file"))
    #expect(ending.code >= 64 && ending.stdout == "" && ending.stderr.hasPrefix("kvsync: none"))
    #expect(ending.stderr.split(separator: "\n").count == 1, "\(ending)")
  }
}
