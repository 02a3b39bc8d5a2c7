// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Faults
import Foundation

struct ScheduleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schedule",
    abstract: "Decides by a seed which of several processes continues at each call.",
    discussion: """
      The same seed gives the same schedule. The first one that fails is printed, and ends \
      the run. Scenarios:

      \(ScheduledScenario.all.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))
      """)

  @Argument(help: "The name of a scenario.")
  var scenario: String

  @OptionGroup var runs: SeededRuns

  @Option(help: "The number of schedules.")
  var schedules = 1000

  @Flag(help: "Prints each schedule's seed, steps and course.")
  var trace = false

  func validate() throws {
    guard schedules > 0 else { throw ValidationError("numbers are more than 0") }
    guard ScheduledScenario.all.contains(where: { $0.name == scenario }) else {
      throw ValidationError("there is no scenario \(scenario)")
    }
  }

  func run() throws {
    try hashAlike()
    guard let scenario = ScheduledScenario.all.first(where: { $0.name == scenario }) else { return }
    let folder = try memoryFolder()
    defer { Result { try FileManager.default.removeItem(atPath: folder) }.discardFailure() }
    let all = try Schedules(scenario, in: folder)
    var steps = 0
    let done = try runs.make("schedules", upTo: schedules) { seed, done in
      do {
        let course = try all.play(seed)
        if trace { say("\(seed): \(course.steps) steps, \(String(course.trace, radix: 16))") }
        steps += course.steps
        return 1
      } catch let failure as ScheduleFailure {
        say("seed \(seed), after \(done) that went well: \(failure)")
        throw ExitCode.failure
      }
    }
    say("\(done) schedules of \(steps / max(done, 1)) steps: nothing was lost")
  }

  /// Executes the program again with hashes that are the same in each process, because the order of
  /// a set depends on them.
  private func hashAlike() throws {
    let name = "SWIFT_DETERMINISTIC_HASHING"
    guard ProcessInfo.processInfo.environment[name] == nil else { return }
    setenv(name, "1", 1)
    var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
    execv(ProcessInfo.processInfo.arguments[0], &arguments)
    throw ScheduleFailure("\(CommandLine.arguments[0]) cannot be started again")
  }

  /// A folder in memory if the system has one, because a schedule syncs many times.
  private func memoryFolder() throws -> String {
    let memory = "/dev/shm"
    let isThere = FileManager.default.isWritableFile(atPath: memory)
    let parent = isThere ? memory : FileManager.default.temporaryDirectory.path
    let folder = parent + "/keepsake-schedules-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    return folder
  }
}
