// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeTesting
import KeepsakeValues
import TestSupport

extension Workspace {
  /// A device with values, a tombstone and defaults.
  @discardableResult
  func furnish(_ name: String, id: Int64 = 1, count: Int = 12) throws -> Device {
    let device = try make(name, id: id)
    for number in 0..<count { try device.set("\(name)\(number)", .integer(Int64(number))) }
    try device.set("gone", "for a while")
    try device.set("gone", nil)
    try device.seed(store: "standard", bundle: "one", defaults("old"))
    return device
  }

  /// So many that they are on several pages.
  fileprivate func defaults(_ text: String) -> [DefaultValue] {
    (0..<20).map {
      DefaultValue(key: "d\($0)", value: .string(text), source: "Root.plist:\($0)")
    }
  }

  /// Demands that a furnished device holds what it did.
  @discardableResult
  func examineFurnished(_ name: String) throws -> DeviceState {
    let state = try examine(name)
    for number in 0..<12 {
      try demand(
        state["\(name)\(number)"] == .integer(Int64(number)), "\(name) has lost \(name)\(number)")
    }
    for key in acknowledged { try demand(state[key] != nil, "\(name) has lost \(key)") }
    return state
  }
}

private func pairs(_ defaults: [DefaultValue]) -> [String: StoredValue] {
  Dictionary(uniqueKeysWithValues: defaults.map { ($0.key, $0.value) })
}

extension Scenario {
  static let creation = Scenario(name: "creation") { _ in
  } run: { space in
    try space.make("a", id: 1).set("first", "v")
  } check: { space, isDone in
    let state = space.exists("a") ? try space.examine("a") : nil
    if isDone { try demand(state?["first"] == "v", "the first write is not there") }
    try space.demandOnly(["a"])
  }

  static let set = Scenario(name: "set") {
    try $0.furnish("a")
  } run: { space in
    let device = try space.open("a")
    let writes: [(String, Durability)] = [
      ("s0", .crashSafe), ("s1", .powerSafe), ("s2", .crashSafe),
    ]
    for (key, durability) in writes {
      try device.set(key, "v", durability: durability)
      space.acknowledged.insert(key)
    }
    try device.synchronize()
  } check: { space, isDone in
    let state = try space.examineFurnished("a")
    let failed = ["s0", "s1", "s2"].filter { !space.acknowledged.contains($0) }
    for key in failed.dropFirst(space.mayBeDone ? 1 : 0) {
      try demand(state[key] == nil, "\(key) is there, and its set had failed")
    }
    try demand(!isDone || space.acknowledged.count == 3, "a set is missing")
  }

  private static let members = (0..<4).map { "g\($0)" }

  /// Threads that set at once, each a key of its own, to the number of the round. Each is told what
  /// is true of its own set, whichever thread made it.
  static let group = Scenario(name: "group") {
    try $0.furnish("a")
  } run: { space in
    let device = try space.open("a")
    let rounds: [[Durability]] = [
      [.crashSafe, .crashSafe, .crashSafe, .crashSafe],
      [.powerSafe, .crashSafe, .powerSafe, .crashSafe],
      [.crashSafe, .powerSafe, .crashSafe, .powerSafe],
    ]
    for (round, durabilities) in rounds.enumerated() {
      let value = StoredValue.integer(Int64(round + 1))
      let results = try device.together(
        zip(members, durabilities).map { key, durability in
          { try device.set(key, value, durability: durability) }
        })
      for (key, result) in zip(members, results) {
        switch result {
        case .success:
          space.told[key] = [value]
        case .failure(let error):
          try demand(error is KeepsakeError, "\(key) throws another kind of error: \(error)")
          space.told[key, default: [nil]].append(value)
        }
      }
      for result in results { try result.get() }
    }
  } check: { space, isDone in
    let state = try space.examineFurnished("a")
    for key in members {
      let told = space.told[key] ?? [nil]
      try demand(
        space.mayBeDone ? told.contains(state[key]) : state[key] == told[0],
        "\(key) is \(state[key].map { "\($0)" } ?? "not there"), and was told as \(told)")
      try demand(!isDone || state[key] == 3, "a set is missing")
    }
  }

  private static let parts = (0..<40).map { "t\($0)" }

  static let transaction = Scenario(name: "transaction") {
    try $0.furnish("a")
  } run: { space in
    let device = try space.open("a")
    try device.transaction(durability: .powerSafe) {
      for key in parts { try device.set(key, .string(String(repeating: key, count: 40))) }
      try device.set("gone", "again")
    }
    space.acknowledged.formUnion(parts)
  } check: { space, isDone in
    let state = try space.examineFurnished("a")
    let there = parts.filter { state[$0] != nil }
    try demand([0, parts.count].contains(there.count), "only \(there) of a transaction")
    try demand((state["gone"] != nil) == !there.isEmpty, "a part of a transaction")
    try demand(
      there.isEmpty || isDone || space.mayBeDone, "a transaction that had failed is there")
    try demand(!there.isEmpty || !isDone, "a transaction is missing")
  }

  static let seed = Scenario(name: "seed") {
    try $0.furnish("a")
  } run: { space in
    try space.open("a").seed(store: "standard", bundle: "one", space.defaults("new"))
  } check: { space, isDone in
    let state = try space.examineFurnished("a")
    let there = pairs(state.defaults["standard"] ?? [])
    let isOld = there == pairs(space.defaults("old"))
    let isNew = there == pairs(space.defaults("new"))
    try demand(isOld || isNew, "the defaults are neither the old nor the new ones")
    try demand(isNew || !isDone, "the defaults are the old ones")
    try demand(isOld || isDone || space.mayBeDone, "the defaults are the new ones")
  }
}
