// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Lost output must not pass for success, nor a missing input for an empty one.
@Suite struct OutputTests {
  private static let isPossible = FileManager.default.fileExists(atPath: "/dev/full")
  private let lost =
    "kvsync: (standard output): cannot be written; check where it leads "
    + "(a change that was asked for is made)\n"

  private func run(_ folder: Folder, _ arguments: [String], _ redirection: String) throws -> Ending
  {
    try Command.run(
      Command.find("sh"),
      ["-c", "\"$0\" \"$@\" \(redirection)", try Command.kvsync.get()] + arguments,
      in: folder.path)
  }

  /// Runs each command in each way; `bad` is made anew for each.
  private func expectLoss(_ redirection: String) throws {
    let folder = try Folder.furnished()
    try folder.must("set", "original", "k", "bad", Moment.eleven.argument)
    try folder.addPeerAndConflict(to: "original")
    try folder.shell("cp", "good", "kept")
    for command in FileCommand.sample where command != .watch {
      for options in [[], ["--json"]] {
        try folder.shell("sh", "-c", "rm -f bad* cloned* good-*; cp original bad; cp kept good")
        let isSilent = [.set, .delete, .doctor, .conflicts].contains(command) && options.isEmpty
        if isSilent, command != .conflicts {
          #expect(try run(folder, command.arguments("bad"), redirection) == Ending(), "\(command)")
        } else {
          let ending = try run(folder, command.arguments("bad") + options, redirection)
          #expect(ending == Ending(stderr: lost, code: 74), "\(command) \(options)")
        }
      }
    }
  }

  @Test(.enabled(if: isPossible, "there is no /dev/full"))
  func aFullDiskBehindTheOutputIsReported() throws {
    try expectLoss(">/dev/full")
  }

  @Test func aClosedOutputIsReported() throws {
    try expectLoss(">&-")
  }

  @Test(.enabled(if: isPossible, "there is no /dev/full"))
  func helpThatCannotBePrintedIsAFailureToo() throws {
    let folder = try Folder()
    for words in [["--help"], ["--version"], ["help", "get"], []] {
      #expect(try run(folder, words, ">/dev/full") == Ending(stderr: lost, code: 74), "\(words)")
    }
  }

  @Test(.enabled(if: isPossible, "there is no /dev/full"))
  func aWatchWhoseOutputIsLostEnds() throws {
    let folder = try Folder.furnished()
    // Waits until the watch says that it is there, then writes what it cannot tell.
    let script = """
      "$0" watch good 2>said >/dev/full & while ! [ -s said ]; do sleep 0.02; done
      "$0" set good k later; wait $!; code=$?; cat said >&2; exit $code
      """
    let ending = try Command.run(
      Command.find("sh"), ["-c", script, try Command.kvsync.get()], in: folder.path)
    #expect(
      ending == Ending(stderr: "kvsync: good: watching; interrupt to stop\n" + lost, code: 74))
  }

  @Test func aFailureThatCannotBePrintedIsStillAFailure() throws {
    let folder = try Folder.furnished()
    #expect(try run(folder, ["get", "nothing", "k"], "2>&-") == Ending(code: 74))
    #expect(try run(folder, ["set", "good", "k", "v"], "<&- >&- 2>&-") == Ending())
    try folder.expect("get", "good", "k", prints: "v\n")
  }

  @Test(arguments: ["<&-", "<."])
  func anInputThatCannotBeReadIsNotEmpty(_ redirection: String) throws {
    let folder = try Folder()
    #expect(
      try run(folder, ["import", "new", "-"], redirection)
        == Ending(
          stderr: "kvsync: (standard input): it cannot be read; check where it comes from\n",
          code: 74))
    #expect(try folder.names() == [])
  }
}
