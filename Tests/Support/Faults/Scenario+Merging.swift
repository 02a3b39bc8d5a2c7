// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport

extension Scenario {
  /// Two devices that have met, and have something for each other again.
  static let merge = Scenario(name: "merge") { space in
    let (a, b) = (try space.furnish("a"), try space.furnish("b", id: 2))
    try a.merge(with: b)
    for (device, name) in [(a, "a"), (b, "b")] {
      for number in 0..<6 { try device.set("new \(name)\(number)", .string(name)) }
      space.clock.advance(by: .seconds(1))
      try device.set("both", .string(name))
    }
    try b.set("a11", nil)
  } run: { space in
    let (a, b) = (try space.open("a"), try space.open("b"))
    space.clock.advance(by: .seconds(60))
    let report = try a.merge(with: b, options: MergeOptions(chunkSize: 4))
    try demand(report.hasConverged, "the merge ends without an agreement")
  } check: { space, isDone in
    let states = try ["a", "b"].map { name in
      let state = try space.examine(name)
      for number in 0..<6 {
        try demand(
          state["new \(name)\(number)"] == .string(name), "\(name) has lost new \(name)\(number)")
      }
      for other in ["a", "b"] {
        for number in 0..<11 {
          try demand(
            state["\(other)\(number)"] == .integer(Int64(number)), "\(other)\(number) is lost")
        }
      }
      return state
    }
    guard isDone else { return }
    try demand(states[0] == states[1], "the two differ after a merge")
    try demand(states[0]["both"] == "b" && states[0]["a11"] == nil, "the earlier write has won")
    try demand(states[0]["new a0"] == "a" && states[0]["new b0"] == "b", "a write is missing")
    let again = try space.open("a").merge(with: space.open("b"))
    try demand(again.changes.isEmpty && again.events.isEmpty, "a second merge changes something")
  }

  static let compaction = Scenario(name: "compaction") { space in
    let device = try space.furnish("a", count: 60)
    for number in 12..<60 { try device.set("a\(number)", nil) }
    space.clock.advance(by: .seconds(10))
  } run: { space in
    space.clock.advance(by: .seconds(1000))
    _ = try space.open("a").compact(keeping: .zero)
  } check: { space, isDone in
    let state = try space.examineFurnished("a")
    try demand(state.values.count == 12, "\(state.values.count) values, and 12 were there")
    guard isDone else { return }
    space.clock.advance(by: .seconds(1000))
    let again = try space.open("a").compact(keeping: .zero)
    try demand(again.dropped == 0 && again.kept == 0, "tombstones were left")
  }
}
