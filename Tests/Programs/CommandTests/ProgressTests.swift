// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct ProgressTests {
  private let folder: Folder
  init() throws { folder = try Folder.furnished() }

  private static let waiting = #"kvsync \w+: [^\r]*\d s"#

  @Test(
    arguments: Seeds.some(
      of: [
        .get, .list, .export, .doctor, .clone, .diffFirst, .set, .import, .seed, .compact,
        .mergeFirst, .mergeDryRun,
      ] as [FileCommand], debug: 5))
  func aCommandThatTakesLongShowsItOnOneLineThatGoes(_ command: FileCommand) throws {
    try folder.must("set", "bad", "k", "v", Moment.ten.argument)
    let arguments = command.arguments("bad").filter { $0 != "--quiet" }
    let seen = try Pseudoterminal(columns: 20, lockedFile: "bad", sign: "kvsync [a-z]").run(
      folder, arguments + ["--busy-timeout", "60s"])
    #expect(seen.code < 2, "\(seen)")
    let frames = Pseudoterminal.frames(seen.stdout)
    #expect(!frames.isEmpty && frames.allSatisfy { $0.hasPrefix("kvsync \(arguments[0]): ") })
    #expect(frames.allSatisfy { $0.count < 20 })
    #expect(!Pseudoterminal.screen(seen.stdout).contains("kvsync \(arguments[0])"), "\(seen)")
  }

  @Test func theLineGoesAlsoWhereTheAnswerLeadsElsewhere() throws {
    try folder.must("set", "bad", "only here", "v", Moment.ten.argument)
    let seen = try Pseudoterminal(lockedFile: "bad", sign: "kvsync diff", isErrorsOnly: true).run(
      folder, ["diff", "bad", "good", "--busy-timeout", "60s"])
    #expect(seen.code == 1 && !Pseudoterminal.frames(seen.stdout).isEmpty, "\(seen)")
    #expect(Pseudoterminal.screen(seen.stdout).isEmpty, "\(seen)")
  }

  @Test func anErrorTakesThePlaceOfTheLine() throws {
    let seen = try Pseudoterminal(
      environment: ["NO_COLOR": "1"], lockedFile: "good", sign: "never"
    ).run(folder, ["set", "good", "k", "w", "--busy-timeout", "1s"])
    #expect(seen.code == 75 && !Pseudoterminal.frames(seen.stdout).isEmpty)
    #expect(
      Pseudoterminal.screen(seen.stdout) == "kvsync: good: another program keeps the file locked; "
        + "try again, or wait longer with a larger busy timeout\n")
  }

  @Test func anImportTellsHowManyRowsItHasRead() throws {
    let folder = try Folder()
    // More than it reads at once.
    let lines = (1000..<2800).map { #"{"key":"\#($0)","type":"integer","value":1}"# + "\n" }
    let seen = try Pseudoterminal(
      input: lines.joined(), sign: #"kvsync import: 1,\d\d\d read, \d s"#
    ).run(folder, ["import", "a", "-"])
    #expect(
      seen.code == 0
        && Pseudoterminal.screen(seen.stdout) == "1800 imported, 1800 changed\n", "\(seen)")
  }

  @Test(arguments: Seeds.rounds([12, 50, 200], debug: [200]))
  func aMergeTellsHowFarItIsInAsManyColumnsAsThereAre(_ columns: Int) throws {
    let folder = try Folder()
    let lines = (0..<50_010).map { #"{"key":"key\#($0)","type":"integer","value":\#($0)}"# }
    try folder.write(lines.joined(separator: "\n"), to: "in")
    // Each of these takes two columns, and the accent none.
    let name = String(repeating: "文e\u{301}", count: 9)
    try folder.must("import", name, "in", "--quiet", Moment.ten.argument)
    let merge = ["merge", name, "b", "--create", Moment.ten.argument]
    let seen = try Pseudoterminal(columns: columns).run(folder, merge)
    #expect(seen.code == 0)
    let frames = Pseudoterminal.frames(seen.stdout)
    for frame in frames {
      let width = frame.unicodeScalars.reduce(0) {
        $0 + ($1 == "文" ? 2 : $1 == "\u{301}" ? 0 : 1)
      }
      #expect(width < columns, "\(frame)")
    }
    let whole = #/^kvsync merge: \d+ %, [\d,]+ entries, .* -> b$/#
    #expect(frames.contains { columns < 200 ? $0.hasSuffix("…") : $0.contains(whole) }, "\(frames)")
    #expect(Pseudoterminal.screen(seen.stdout).contains("\n\(name) -> b: 50010 received"))
    #expect(try folder.run(merge).stderr.isEmpty)
  }

  @Test(arguments: [["--quiet"], ["TERM"]])
  func thereIsNoLineWhereItIsNotWantedOrCannotBeErased(_ options: [String]) throws {
    let isDumb = options == ["TERM"]
    let seen = try Pseudoterminal(
      environment: ["TERM": isDumb ? "dumb" : "xterm"], lockedFile: "good", sign: "never"
    ).run(folder, ["get", "good", "k", "--busy-timeout", "1s"] + (isDumb ? [] : options))
    #expect(seen.code == 75 && Pseudoterminal.frames(seen.stdout).isEmpty, "\(seen)")
  }

  // MARK: - Ctrl-C

  @Test(
    arguments: Seeds.some(
      of: [.compact, .clone, .mergeFirst, .export, .doctor] as [FileCommand], debug: 2))
  func anInterruptionEndsTheCommandAsASignalDoes(_ command: FileCommand) throws {
    try folder.must("set", "bad", "k", "v", Moment.ten.argument)
    let before = try folder.contents("bad")
    let seen = try Pseudoterminal(lockedFile: "bad", sign: Self.waiting, interrupts: true).run(
      folder,
      command.arguments("bad").filter { $0 != "--quiet" } + ["--busy-timeout", "60s"])
    #expect(seen.code == 128 + SIGINT, "\(seen)")
    #expect(try folder.contents("bad") == before)
  }

  @Test func anInterruptedImportLeavesNothing() throws {
    let before = try folder.contents("good")
    for file in ["good", "new"] {
      let seen = try Pseudoterminal(
        input: #"{"key":"k","type":"integer","value":1}"# + "\n",
        sign: Self.waiting, interrupts: true
      ).run(folder, ["import", file, "-"])
      #expect(seen.code == 128 + SIGINT, "\(seen)")
    }
    #expect(try folder.contents("good") == before && !folder.exists("new"))
  }

  @Test func anInterruptionWithoutATerminalEndsTheCommandAsASignalDoes() throws {
    let script = """
      import signal, subprocess, sys
      signal.signal(signal.SIGINT, signal.default_int_handler)
      signal.pthread_sigmask(signal.SIG_SETMASK, [])
      process = subprocess.Popen(
        [sys.argv[1], "import", "good", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
      process.stdin.write(b'{"key":"k","type":"integer","value":1}\\n')
      process.stdin.flush()
      process.send_signal(signal.SIGINT)
      print(process.wait(), process.stderr.read())
      """
    #expect(try folder.shell("python3", "-c", script, Command.kvsync.get()) == "-2 b''\n")
    try folder.expect("get", "good", "k", prints: "v\n")
  }
}
