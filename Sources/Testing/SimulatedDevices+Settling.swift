// SPDX-License-Identifier: Apache-2.0

import Dispatch
public import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

extension SimulatedDevices {
  /// The devices did not converge.
  public struct NotSettled: Error, Sendable, CustomStringConvertible {
    /// The differences or waiting entries, the seed, and the history.
    public let description: String
  }

  /// Syncs all devices until a round changes nothing, and checks that their contents are equal.
  /// Before each round it waits until the stores' `resolveConflicts` have handled all conflicts.
  ///
  /// - Parameters:
  ///   - rounds: the maximum number of rounds.
  ///   - limit: the maximum time to wait for the resolvers before a round.
  /// - Returns: the number of rounds.
  /// - Throws: `NotSettled`, or `KeepsakeError` when a merge fails.
  @discardableResult
  public func settle(
    within rounds: Int = 10, resolving limit: Duration = .seconds(10)
  ) throws -> Int {
    var waiting: [MergeReport.Waiting] = []
    for round in 1...Swift.max(rounds, 1) {
      try waitForResolvers(limit)
      let report = try mergeAll()
      waiting = report.waiting
      let isQuiet =
        report.events.isEmpty
        && report.transfers.allSatisfy { $0.received == $0.waiting && $0.changed == 0 }
      guard isQuiet else { continue }
      guard report.hasConverged, try differences().isEmpty else { break }
      return round
    }
    throw NotSettled(description: try failure(after: rounds, waiting: waiting))
  }

  /// Waits for all devices, because a resolver's writes may wake the resolvers of other devices.
  private func waitForResolvers(_ limit: Duration) throws {
    for place in indices {
      let deadline = DispatchTime.now() + limit / .seconds(1)
      if self[place].shared.pending.wait(timeout: deadline) == .success { continue }
      throw NotSettled(
        description: """
          seed \(seed): resolveConflicts on device \(place) did not end within \(limit)
          after: \(history.joined(separator: ", "))
          """)
    }
  }

  /// The differences in synced stores: one line for each key and each device whose value differs
  /// from that of device 0. O(entries).
  public func differences() throws(KeepsakeError) -> [String] {
    var lines: [String] = []
    for place in indices.dropFirst() {
      for key in try Difference.all(self[0], self[place], stores: nil) {
        lines.append(
          "\(key.store)/\(key.key): device 0 has \(show(key.left.value)), "
            + "device \(place) has \(show(key.right.value))")
      }
    }
    return lines
  }

  private func show(_ value: StoredValue?) -> String { value.map { "\($0)" } ?? "nothing" }

  private func failure(
    after rounds: Int, waiting: [MergeReport.Waiting]
  ) throws -> String {
    let future = indices.compactMap { place in
      let count = waiting.count { $0.into == place }
      return count == 0
        ? nil
        : "device \(place) does not read \(count) entries from the future until its clock reaches"
          + " them; advance it, or correct the fast clock"
    }
    let problems = try differences() + future
    return """
      seed \(seed): the devices do not settle
      \((problems.isEmpty ? ["after \(rounds) rounds they still change"] : problems)
        .joined(separator: "\n"))
      after: \(history.joined(separator: ", "))
      """
  }
}
