// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Histories
import HubSupport
import KeepsakeHubServer
import KeepsakeTesting
import KeepsakeValues

struct SoakCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "soak",
    abstract:
      "Plays random histories of devices that sync, crash, are copied and have wrong clocks.",
    discussion: """
      Each is compared with an oracle. The first one that fails is shrunk, and printed as a script \
      for --replay; then the exit code is 1. Progress goes to stderr.

      Scripts/soak runs it. Scripts/soak kills and Scripts/soak power run the subcommands kills \
      and power.
      """)

  @Option(help: "The first history; the same seed gives the same histories. (default: random)")
  var seed: UInt64?

  @Option(help: "Stops after so many minutes.")
  var minutes: Double?

  @Option(help: "Stops after so many histories.")
  var histories: Int?

  @Flag(help: "The place of the devices. Without it, every fourth history is on files.")
  var storage: Storage?

  @Flag(help: "Adds a hub, with which the devices sync most of the time.")
  var hub = false

  @Flag(help: "With --hub: the hub stores its account in a file, beside one in memory.")
  var file = false

  @Option(help: ArgumentHelp("Plays the script that an earlier run printed.", valueName: "file"))
  var replay: String?

  @Flag(help: "Prints the history of --seed instead of playing it.")
  var show = false

  enum Storage: String, EnumerableFlag {
    case files, memory
  }

  mutating func validate() throws {
    guard (minutes ?? 1) > 0, (histories ?? 1) > 0 else {
      throw ValidationError("--minutes and --histories are more than 0")
    }
    guard minutes == nil || histories == nil else {
      throw ValidationError("either --minutes or --histories")
    }
    let isFree = seed == nil && minutes == nil && histories == nil && storage == nil && !hub
    guard replay == nil || isFree else {
      throw ValidationError("--replay takes everything else from the file")
    }
    guard !file || hub || replay != nil else { throw ValidationError("--file needs --hub") }
    guard !show || seed != nil else { throw ValidationError("--show needs --seed") }
  }

  func run() throws {
    if let replay { return try play(script(replay)) }
    let first = seed ?? .random(in: 0...(.max >> 1))
    if show { return print(history(first, 0), terminator: "") }
    let limit = histories ?? (minutes == nil ? 1000 : .max)
    let end = minutes.map { Date(timeIntervalSinceNow: $0 * 60) } ?? .distantFuture
    report("soak", "from seed \(first)")
    var generator = SeededGenerator(seed: first)
    // A history of a seed that is given is played as it is; the rest follow from it.
    var next = first
    var last = Date()
    for number in 0..<limit {
      guard Date() < end else { return report("soak", "\(number) histories, and all went well") }
      if Date().timeIntervalSince(last) > 10 {
        report("soak", "\(number) histories")
        last = Date()
      }
      try play(history(next, number))
      next = generator.next()
    }
    report("soak", "\(limit) histories, and all went well")
  }

  private func history(_ seed: UInt64, _ number: Int) -> History {
    let isOnFiles = storage.map { $0 == .files } ?? (number % 4 == 3)
    return History(seed: seed, storage: isOnFiles ? .files : .memory, hasHub: hub)
  }

  private func script(_ path: String) throws -> History {
    do {
      return try History(parsing: String(contentsOfFile: path, encoding: .utf8))
    } catch let error as ScriptError {
      throw ValidationError("\(path): \(error)")
    } catch {
      throw ValidationError("\(path): \(error.localizedDescription)")
    }
  }

  private func play(_ history: History) throws {
    do {
      try history.play(on: makeHub)
      if replay != nil { report("soak", "it went well") }
    } catch {
      guard replay == nil else {
        report("soak", "\(error)")
        throw ExitCode.failure
      }
      report("soak", "seed \(history.seed) fails: \(error)\nmaking it smaller")
      var shrinker = Shrinker(history, error, on: makeHub)
      shrinker.run()
      report("soak", "\(shrinker.failure)")
      let words = file ? " --file" : ""
      print("# \(shrinker.failure)\n# Play it again: Scripts/soak --replay FILE\(words)")
      print(shrinker.history, terminator: "")
      throw ExitCode.failure
    }
  }

  private func makeHub(_ id: ReplicaID) throws -> any PlayedHub {
    try file ? HubFileKeeper.hub(id) : MemoryHub(id)
  }
}
