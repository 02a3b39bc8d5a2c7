// SPDX-License-Identifier: Apache-2.0

import FileSystemShim
import KeepsakeDevice

/// Runs a scenario again and again, until no call is left that has not failed.
package struct FailRun {
  /// What was done.
  package struct Tally: Sendable {
    /// Calls that failed.
    package var calls = 0
    /// Ways in which they failed.
    package var faults = 0
    /// Runs that threw; in the others the fault was made good, or of no consequence.
    package var errors = 0
  }

  package let scenario: Scenario
  /// Every so many calls one fails.
  package let step: Int
  /// Which one fails first, from 1.
  package let start: Int
  private let folder: TemporaryFolder
  private let files: FailingFiles
  private let prepared: Workspace

  package init(_ scenario: Scenario, from start: Int = 1, step: Int = 1) throws {
    (self.scenario, self.start, self.step) = (scenario, start, step)
    files = FailingFiles()
    FileSystemCalls.watch(files)
    FileSystemCalls.watchNames(will: { [files] naming, path, _ in files.willName(naming, path) })
    folder = try TemporaryFolder()
    prepared = try Workspace(folder.path + "/prepared")
    try scenario.prepare(prepared)
  }

  /// - Parameter limit: how many calls fail at most.
  /// - Throws: `Complaint`.
  package func run(limit: Int = .max) throws -> Tally {
    var tally = Tally()
    var place = start
    while tally.calls < limit {
      var (way, ways) = (0, 1)
      while way < ways {
        guard let strike = try strike(place, way, &tally) else { return tally }
        ways = strike.ways
        way += 1
      }
      tally.calls += 1
      place += step
    }
    return tally
  }

  /// - Returns: what failed; nil when there were fewer calls.
  private func strike(
    _ place: Int, _ way: Int, _ tally: inout Tally
  ) throws -> FailingFiles.Strike? {
    let space = try prepared.copied(to: folder.path + "/work")
    space.clock.advance(by: .seconds(3600))
    files.arm(place, way: way)
    let result = Result { try scenario.run(space) }
    let strike = files.disarm()
    do {
      guard let strike else {
        _ = try result.get()
        try scenario.check(space, true)
        return nil
      }
      tally.faults += 1
      space.mayBeDone = strike.mayBeDone
      if case .failure(let error) = result {
        tally.errors += 1
        try Self.expect(error, strike.fault)
        try scenario.check(space, false)
      }
      // What has succeeded nevertheless must be right without being done again.
      if case .success = result { try scenario.check(space, true) } else { try again(space) }
      return strike
    } catch {
      let what = strike.map { "\($0), which gives \(Self.outcome(result))" } ?? "no fault"
      throw Complaint("\(scenario.name) --at \(place), way \(way), \(what): \(error)")
    }
  }

  private func again(_ space: Workspace) throws {
    do {
      try scenario.run(space)
    } catch {
      throw Complaint("done again, it fails: \(error)")
    }
    try scenario.check(space, true)
  }

  private static func expect(_ error: any Error, _ fault: Fault) throws {
    guard let error = error as? KeepsakeError else {
      throw Complaint("it throws another kind of error: \(error)")
    }
    try demand(fault.errors.contains(error.code), "it is told as \(error.code): \(error)")
  }

  private static func outcome(_ result: Result<Void, any Error>) -> String {
    if case .failure(let error) = result { "\(error)" } else { "no error" }
  }
}
