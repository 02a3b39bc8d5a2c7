// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeDevice
import KeepsakeTesting

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

  @Option(help: "The first round; the same seed gives the same rounds. (default: random)")
  var seed: UInt64?

  @Option(help: "Only this work: \(VictimWork.allCases.map(\.rawValue).joined(separator: ", ")).")
  var work: VictimWork?

  @Option(help: "Stops after so many minutes.")
  var minutes: Double?

  func validate() throws {
    guard rounds > 0, (minutes ?? 1) > 0 else {
      throw ValidationError("numbers are more than 0")
    }
  }

  func run() throws {
    let first = seed ?? .random(in: 0...(.max >> 1))
    say("from seed \(first)")
    let folder = try TemporaryFolder()
    var killer = try KillRunner(folder.path)
    let end = minutes.map { Date(timeIntervalSinceNow: $0 * 60) } ?? .distantFuture
    var generator = SeededGenerator(seed: first)
    // A round of a seed that is given is played as it is; the rest follow from it.
    var seed = first
    var last = Date()
    for number in 0..<rounds where Date() < end {
      let work = work ?? VictimWork.allCases[number % VictimWork.allCases.count]
      do {
        try killer.play(work, seed)
      } catch {
        say("\(work) of seed \(seed): \(error)")
        say("again: --work \(work.rawValue) --seed \(seed) --rounds 1")
        say("its files: \(try killer.keepFiles(of: seed))")
        throw ExitCode.failure
      }
      if Date().timeIntervalSince(last) > 60 {
        say("\(number + 1) rounds")
        last = Date()
      }
      seed = generator.next()
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
