// SPDX-License-Identifier: Apache-2.0
//
// Writers and readers of one file. Each is a process of its own.

import ArgumentParser
import Dispatch
import Faults
import Foundation
import Keepsake
import Synchronization

/// The counters of the writers, which add to `left` and `right` in one transaction.
final class SharedCounters: DeviceSettings, @unchecked Sendable {
  @Setting var sum = 0
  @Setting var left = 0
  @Setting var right = 0
}

struct AddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Adds to three counters of a device.", shouldDisplay: false)

  @Argument var file: String
  @Argument(help: "The number of additions.") var count: Int

  func run() throws {
    let sums = try SharedCounters(on: Device(path: file, access: .existing))
    for _ in 0..<count {
      try sums.$sum.increment()
      try sums.transaction {
        sums.left += 1
        sums.right += 1
      }
    }
    try demand(sums.failures.isEmpty, "\(sums.failures)")
  }
}

struct FollowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Watches the counters until they are complete.",
    shouldDisplay: false)

  @Argument var file: String
  @Argument(help: "The last value of each counter.") var total: Int
  @Flag(help: "Opens the file read-only.") var readOnly = false

  private static let patience = DispatchTimeInterval.seconds(50)

  func run() throws {
    let sums = try SharedCounters(
      on: Device(path: file, access: readOnly ? .readOnly : .existing))
    let heard = Mutex(Track())
    let news = DispatchSemaphore(value: 0)
    let observation = sums.observe { changes in
      heard.withLock { $0.note(changes) }
      news.signal()
    }
    defer { observation.cancel() }
    // After the observer has begun.
    say("ready")
    let end = DispatchTime.now() + Self.patience
    var last = (sum: 0, left: 0)
    while !heard.withLock({ $0.isComplete(total) }) {
      try demand(news.wait(timeout: end) == .success, "\(heard.withLock { $0 }) is the end")
      // Readings never go back either, and see both of a transaction or none.
      let all = sums.dictionaryRepresentation()
      let (sum, left, right) = (number(all["sum"]), number(all["left"]), number(all["right"]))
      try demand(left == right, "a reading sees \(left) and \(right)")
      try demand(sum >= last.sum && left >= last.left, "\(sum), \(left) after \(last)")
      last = (sums.sum, sums.left)
      try demand(last.sum >= sum && last.left >= left, "\(last) after \(sum), \(left)")
    }
    let track = heard.withLock { $0 }
    try demand(track.complaints.isEmpty, "\(track.complaints)")
    try demand((sums.sum, sums.left, sums.right) == (total, total, total), "it reads otherwise")
    try demand(sums.failures.isEmpty, "\(sums.failures)")
    say("complete")
  }
}

private func number(_ value: StoredValue?) -> Int {
  if case .integer(let number)? = value { Int(number) } else { 0 }
}

/// The changes that an observer has got.
private struct Track: CustomStringConvertible {
  private var values: [String: Int] = [:]
  private(set) var complaints: [String] = []

  mutating func note(_ changes: [SettingChange]) {
    let keys = Set(changes.map(\.key))
    if keys.contains("left") != keys.contains("right") {
      complaints.append("a transaction is heard in parts: \(keys)")
    }
    for change in changes {
      guard case .integer(let new)? = change.new else {
        complaints.append("\(change)")
        continue
      }
      if Int(new) <= values[change.key] ?? 0 { complaints.append("back: \(change)") }
      values[change.key] = Int(new)
    }
  }

  func isComplete(_ total: Int) -> Bool {
    ["sum", "left", "right"].allSatisfy { values[$0] == total } || !complaints.isEmpty
  }

  var description: String { "\(values) \(complaints)" }
}
