// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeDevice

struct KillsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kills",
    abstract: "Kills writers, merges, compactions, clones and imports in the middle.",
    discussion: """
      A seed selects the moment, within the time that the work takes. After each kill the files \
      have to open and be sound, and to hold everything that was acknowledged and no part of a \
      step. The same work has to succeed when it is repeated, and the devices have to agree. \
      The first round that fails is printed, with its seed and its files, and ends the run.
      """)

  @Option(help: "The number of rounds.")
  var rounds = 60

  @OptionGroup var runs: SeededRuns

  @Option(help: "Only this work: \(VictimWork.allCases.map(\.rawValue).joined(separator: ", ")).")
  var work: VictimWork?

  func validate() throws {
    guard rounds > 0 else { throw ValidationError("numbers are more than 0") }
  }

  func run() throws {
    let folder = try TemporaryFolder()
    var killer = try KillRunner(folder.path)
    _ = try runs.make("rounds", upTo: rounds) { seed, number in
      let work = work ?? VictimWork.allCases[number % VictimWork.allCases.count]
      do {
        try killer.play(work, seed)
      } catch {
        say("\(work) of seed \(seed): \(error)")
        say("again: --work \(work.rawValue) --seed \(seed) --rounds 1")
        say("its files: \(try killer.keepFiles(of: seed))")
        throw ExitCode.failure
      }
      return 1
    }
    say(killer.table)
    let seldom = killer.seldomHit
    say("\(killer.rounds) rounds, \(killer.inside) killed inside")
    guard seldom.isEmpty else {
      say("too few kills were inside \(seldom.joined(separator: ", "))")
      throw ExitCode.failure
    }
  }
}
