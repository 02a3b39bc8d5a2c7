// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// What one device was asked to write, in the order in which it was asked.
struct Ledger: Sendable {
  /// One transaction.
  struct Step: Sendable {
    /// Keys that only this step sets, to its own number.
    var marks: [String] = []
    /// Keys that other steps set and delete too.
    var shared: [String: StoredValue?] = [:]
    /// A default that only this step seeds.
    var seed: String?
    /// Places in the recording: when it began; when it had returned; from when on a power cut
    /// cannot take it.
    var begin: Int
    var end = Int.max
    var safe = Int.max
  }

  let name: String
  /// Of a file that was there before, before everything.
  var made = Int.max
  var steps: [Step] = []

  init(_ name: String) { self.name = name }

  /// All that has returned is safe from now on.
  mutating func makeSafe(_ place: Int) {
    for number in steps.indices where steps[number].end <= place {
      steps[number].safe = min(steps[number].safe, place)
    }
  }

  /// Demands that a device holds the steps up to one, each whole, and none after it.
  ///
  /// - Parameter cut: the place at which the power went; nil where only the order matters.
  /// - Returns: how many steps it holds.
  @discardableResult
  func check(_ state: DeviceState, of device: String, cut: Int?) throws(Complaint) -> Int {
    let defaults = Set((state.defaults["standard"] ?? []).map(\.key))
    var count = 0
    for (number, step) in steps.enumerated() {
      let value = StoredValue.integer(Int64(number))
      let there = step.marks.filter { state[$0] == value }.count
      // Defaults are not merged.
      let seeds = step.seed.map { name == device ? (defaults.contains($0), 1) : (false, 0) }
      let (found, all) = (
        there + (seeds?.0 == true ? 1 : 0), step.marks.count + (seeds?.1 ?? 0)
      )
      if all == 0 {
        // Of a step that leaves nothing here nothing can be missing.
        if count == number { count += 1 }
        continue
      }
      try demand(found == 0 || found == all, "\(device) holds a part of \(name)'s step \(number)")
      guard found > 0 else { continue }
      try demand(
        count == number, "\(device) holds \(name)'s step \(number), and lacks step \(count)")
      count = number + 1
    }
    guard let cut else { return count }
    let safe = steps.lastIndex { $0.safe <= cut }.map { $0 + 1 } ?? 0
    try demand(count >= safe, "\(device) has lost \(name)'s step \(count), which was safe")
    try demand(
      count <= steps.count { $0.begin <= cut }, "\(device) holds a step that had not begun")
    try checkShared(state, of: device, after: count)
    return count
  }

  private func checkShared(
    _ state: DeviceState, of device: String, after count: Int
  ) throws(Complaint) {
    var wanted: [String: StoredValue?] = [:]
    for step in steps { for key in step.shared.keys { wanted[key] = .some(nil) } }
    for step in steps.prefix(count) { wanted.merge(step.shared) { $1 } }
    for (key, value) in wanted {
      try demand(state[key] == value, "\(device): \(key) is not as step \(count - 1) left it")
    }
  }
}
