// SPDX-License-Identifier: Apache-2.0

import FileSystemShim
import Foundation
import Turns

/// What several processes, and threads of one, do at once, and what has to be true afterwards.
package struct ScheduledScenario: Sendable {
  package let name: String
  package let summary: String
  /// About how many steps a schedule has.
  let steps: Int
  /// Makes the files, once, in a folder.
  let prepare: @Sendable (String) throws -> Void
  /// How many of the first actors are threads of one process.
  var threads = 1
  /// Each other one in a process of its own; on copies of the files.
  ///
  /// - Parameter acknowledge: tells how many of the actor's writes have been acknowledged.
  let actors: [@Sendable (_ acknowledge: (Int) -> Void, _ folder: String) throws -> Void]
  /// Throws for what is wrong; in a process of its own, when all actors have ended.
  ///
  /// - Parameter acknowledged: of each actor, how many of its writes have been acknowledged.
  let check: @Sendable (String, _ acknowledged: [Int]) throws -> Void
}

/// By an actor: lets others go on until one of them has had so many writes acknowledged.
func waitForActor(_ actor: Int, toAcknowledge count: Int) {
  while acknowledged(by: actor) < count { letOthersGoOn() }
}

/// By an actor: how many writes of another one have been acknowledged.
func acknowledged(by actor: Int) -> Int { Int(turns_acknowledged(nil, Int32(actor))) }

/// By an actor that waits for another.
func letOthersGoOn() { turns_yield(Int32(turns_wait), false) }

/// Gives the turn away at each call that other processes could notice.
private final class TurnTaker: FileSystemWatcher {
  private static let points: Set = [
    shim_lock.rawValue, shim_unlock.rawValue, shim_shm_lock.rawValue, shim_shm_barrier.rawValue,
    shim_write.rawValue, shim_sync.rawValue, shim_truncate.rawValue, shim_unfetch.rawValue,
    shim_delete.rawValue,
  ]

  func willMake(_ call: shim_call) -> shim_verdict {
    if Self.points.contains(call.operation.rawValue) {
      turns_yield(Int32(call.operation.rawValue) + 1, Self.isRare(call))
    }
    return .pass
  }

  /// Whether it is one of those in which a checkpoint begins and a log ends.
  private static func isRare(_ call: shim_call) -> Bool {
    let checkpointLock: sqlite3_int64 = 1
    return switch call.operation {
    case shim_sync, shim_truncate, shim_unfetch, shim_delete: true
    case shim_shm_lock: call.offset == checkpointLock && call.argument & SQLITE_SHM_LOCK != 0
    default: false
    }
  }
}

/// What is wrong after a schedule.
package struct ScheduleFailure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// Plays schedules of one scenario.
package final class Schedules {
  package struct Course: Sendable, Equatable {
    package let trace: UInt64
    package let steps: Int
  }

  private let scenario: ScheduledScenario
  private let folder: String
  private let turns: OpaquePointer
  private let files: [String]

  /// - Parameter folder: empty, and of a file system in memory where speed counts.
  package init(_ scenario: ScheduledScenario, in folder: String) throws {
    guard let turns = turns_map() else { throw ScheduleFailure("there is no shared memory") }
    (self.scenario, self.folder, self.turns) = (scenario, folder, turns)
    try FileManager.default.createDirectory(
      atPath: folder + "/template", withIntermediateDirectories: true)
    try Self.wait(for: [Self.process { try scenario.prepare(folder + "/template") }])
    files = try FileManager.default.contentsOfDirectory(atPath: folder + "/template")
  }

  /// - Throws: `ScheduleFailure` for what is wrong afterwards.
  package func play(_ seed: UInt64) throws -> Course {
    let place = folder + "/now"
    try? FileManager.default.removeItem(atPath: place)
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    for file in files {
      try FileManager.default.copyItem(
        atPath: "\(folder)/template/\(file)", toPath: "\(place)/\(file)")
    }
    let actors = scenario.actors
    turns_prepare(turns, Int32(actors.count), seed, Int32(scenario.steps))
    let first = 0..<scenario.threads
    let processes = try ([first] + actors.indices.dropFirst(scenario.threads).map { $0..<$0 + 1 })
      .map { numbers in
        try Self.process {
          FileSystemCalls.watch(TurnTaker())
          try Self.onThreads(numbers) { number in
            turns_join(turns, Int32(number))
            defer { turns_leave() }
            try actors[number]({ turns_acknowledge(Int32($0)) }, place)
          }
        }
      }
    turns_begin(turns)
    try Self.wait(for: processes)
    let acknowledged = actors.indices.map { Int(turns_acknowledged(turns, Int32($0))) }
    try Self.wait(for: [Self.process { try scenario.check(place, acknowledged) }])
    return Course(trace: turns_trace(turns), steps: Int(turns_steps(turns)))
  }
}
