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
  /// When its file had been made: a place in the recording.
  var made = Int.max
  var steps: [Step] = []

  init(_ name: String) { self.name = name }

  /// All that has returned is safe from now on.
  mutating func makeSafe(_ place: Int) {
    for number in steps.indices where steps[number].end <= place {
      steps[number].safe = min(steps[number].safe, place)
    }
  }

  /// Demands that the device itself holds the steps up to one, each whole, and none after it, as a
  /// cut leaves it.
  ///
  /// - Parameter cut: the place at which the power went.
  func check(_ state: DeviceState, cut: Int) throws(Complaint) {
    let defaults = Set((state.defaults["standard"] ?? []).map(\.key))
    var count = 0
    for (number, step) in steps.enumerated() {
      let seeds = step.seed.map { [$0] } ?? []
      let there = marks(of: number, in: state).count + seeds.count(where: defaults.contains)
      let all = step.marks.count + seeds.count
      try demand(there == 0 || there == all, "\(name) holds a part of its step \(number)")
      guard there > 0 else { continue }
      try demand(count == number, "\(name) holds its step \(number), and lacks step \(count)")
      count = number + 1
    }
    let safe = steps.lastIndex { $0.safe <= cut }.map { $0 + 1 } ?? 0
    try demand(count >= safe, "\(name) has lost its step \(count), which was safe")
    try demand(
      count <= steps.count { $0.begin <= cut }, "\(name) holds a step that had not begun")
    try checkShared(state, after: count)
  }

  /// What a device holds of all this, in whatever way it got there: a merge that is cut off leaves
  /// some, in no order.
  func marks(in state: DeviceState) -> Set<String> {
    Set(steps.indices.flatMap { marks(of: $0, in: state) })
  }

  private func marks(of number: Int, in state: DeviceState) -> [String] {
    steps[number].marks.filter { state[$0] == .integer(Int64(number)) }
  }

  private func checkShared(_ state: DeviceState, after count: Int) throws(Complaint) {
    var wanted: [String: StoredValue?] = [:]
    for step in steps { for key in step.shared.keys { wanted[key] = .some(nil) } }
    for step in steps.prefix(count) { wanted.merge(step.shared) { $1 } }
    for (key, value) in wanted {
      try demand(state[key] == value, "\(name): \(key) is not as step \(count - 1) left it")
    }
  }
}
