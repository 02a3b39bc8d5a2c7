// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

extension SimulatedDevices {
  /// The devices did not come to hold the same.
  public struct NotSettled: Error, Sendable, CustomStringConvertible {
    /// What differs or waits, the seed, and what was done until then.
    public let description: String
  }

  /// Lets all devices meet until nobody learns anything, and makes sure that they hold the same.
  ///
  /// - Parameter rounds: how often they meet at most.
  /// - Returns: how often they met.
  /// - Throws: `NotSettled`, or `KeepsakeError` when a merge fails.
  @discardableResult
  public func settle(within rounds: Int = 10) throws -> Int {
    for round in 1...Swift.max(rounds, 1) {
      let report = try meetAll()
      let isQuiet =
        report.events.isEmpty
        && report.transfers.allSatisfy { $0.received == 0 && $0.changed == 0 }
      guard isQuiet else { continue }
      guard report.hasConverged, try differences().isEmpty else { break }
      return round
    }
    throw NotSettled(description: try trouble(rounds))
  }

  /// What the devices do not hold alike, in the stores that travel: one line for each key and each
  /// device that has another value than the first. O(entries).
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

  private func trouble(_ rounds: Int) throws -> String {
    let waiting = try indices.compactMap { place in
      let count = try self[place].core.access { try Held.count($0) }
      return count == 0
        ? nil
        : "device \(place) keeps \(count) entries from the future until its clock has come so far;"
          + " advance it, or set the fast clock right"
    }
    let problems = try differences() + waiting
    return """
      seed \(seed): the devices do not settle
      \((problems.isEmpty ? ["after \(rounds) meetings they still learn"] : problems)
        .joined(separator: "\n"))
      after: \(history.joined(separator: ", "))
      """
  }
}
