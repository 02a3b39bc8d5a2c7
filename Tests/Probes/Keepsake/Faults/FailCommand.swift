// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Faults

struct FailCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fail", abstract: "Lets each call to the file system fail in turn, in every way.",
    discussion: """
      After each fault the files have to open, and to hold everything that was acknowledged and no \
      part of a step. The operation that failed has to succeed when it is repeated.
      """)

  @Argument(help: "Operations: \(Scenario.all.map(\.name).joined(separator: ", ")). (default: all)")
  var scenarios: [String] = []

  @Option(help: "Fails one of so many calls.")
  var every = 1

  @Option(help: "Selects the calls, if not all of them fail.")
  var seed: UInt64 = 0

  @Option(help: "Fails only this call.")
  var at: Int?

  func validate() throws {
    guard every > 0, (at ?? 1) > 0 else { throw ValidationError("numbers begin with 1") }
    for name in scenarios where !Scenario.all.contains(where: { $0.name == name }) {
      throw ValidationError("there is no scenario \(name)")
    }
  }

  func run() throws {
    FileSystemCalls.ignoreSyncs()
    var hasFailed = false
    for scenario in Scenario.all where scenarios.isEmpty || scenarios.contains(scenario.name) {
      do {
        let first = at ?? 1 + Int(seed % UInt64(every))
        let tally = try FailRun(scenario, from: first, step: every).run(limit: at == nil ? .max : 1)
        say(
          "\(scenario.name): \(tally.calls) calls, \(tally.faults) faults, \(tally.errors) errors")
      } catch let complaint as Complaint {
        hasFailed = true
        say("\(complaint)")
      }
    }
    if hasFailed { throw ExitCode.failure }
  }
}
