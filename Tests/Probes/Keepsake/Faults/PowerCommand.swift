// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Faults

struct PowerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "power",
    abstract: "Cuts the power at any moment, and checks what a disk could hold then.",
    discussion: """
      Synchronized writes have to be there, and the last ones of the others may be missing. The \
      devices have to sync and agree. The first cut that fails is printed, and ends the run.
      """)

  @OptionGroup var runs: SeededRuns

  @Option(help: "The number of cuts.")
  var cuts = 10_000

  @Option(help: "The number of cuts of each workload.")
  var each = 100

  @Option(help: "Only this cut of the first workload.")
  var cut: Int?

  func validate() throws {
    guard cuts > 0, each > 0 else { throw ValidationError("numbers are more than 0") }
  }

  func run() throws {
    FileSystemCalls.ignoreSyncs()
    var events = 0
    do {
      let done = try runs.make("cuts", upTo: cut == nil ? cuts : 1) { seed, done in
        let power = try PowerRun(seed: seed)
        events += power.events
        let numbers = cut.map { $0..<$0 + 1 } ?? 0..<min(each, cuts - done)
        for number in numbers { try power.cut(number) }
        return numbers.count
      }
      say("\(done) cuts in \(events) events: nothing was lost")
    } catch let complaint as Complaint {
      say("\(complaint)")
      throw ExitCode.failure
    }
  }
}
