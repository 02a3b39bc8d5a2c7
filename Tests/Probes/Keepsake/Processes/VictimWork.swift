// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keepsake
import KeepsakeTesting

/// The works that are killed.
enum VictimWork: String, CaseIterable, ExpressibleByArgument {
  case sets, transactions, typed, threads, merge, compaction, clone
  case importing = "import"

  /// Whether it reports each of its steps when it has returned.
  var isWriting: Bool { [.sets, .transactions, .typed, .threads].contains(self) }
}

/// The steps of the work `threads`, whose threads set at the same time, so that their sets share
/// commits: each sets two keys of its own by turns, to one number after the other.
enum ThreadSteps {
  static let threads = 8
  static let count = 100

  static func key(_ thread: Int, _ number: Int) -> String { "thread \(thread) \(number % 2)" }

  /// The contents of a thread's keys after so many steps.
  static func contents(of thread: Int, after count: Int) -> SettingsContents {
    var contents = SettingsContents()
    for number in 1..<count + 1 {
      contents[key(thread, number)] = "\(StoredValue.integer(Int64(number)))"
    }
    return contents
  }
}

/// The steps of a writer, from a seed, so that its contents after each step are known.
struct WriterSteps {
  /// A change without a value removes the key.
  typealias Change = (key: String, value: StoredValue?)

  /// The number of steps of one writer.
  static let count = 200
  private static let typed = ["count", "name", "ratio", "tags"]

  let work: VictimWork
  private var generator: SeededGenerator
  private var number: Int64 = 0

  init(_ work: VictimWork, seed: UInt64) {
    self.work = work
    generator = SeededGenerator(seed: seed)
  }

  static func keys(_ work: VictimWork) -> [String] {
    work == .typed ? typed : (0..<100).map { "k\($0)" }
  }

  /// The changes of the next step; one change unless the work is `transactions`.
  mutating func next() -> [Change] {
    number += 1
    let count = work == .transactions ? Int.random(in: 3...8, using: &generator) : 1
    let keys = Self.keys(work).shuffled(using: &generator).prefix(count)
    return keys.map { ($0, work == .typed ? typedValue($0) : value()) }
  }

  private mutating func value() -> StoredValue? {
    guard Int.random(in: 0..<5, using: &generator) > 0 else { return nil }
    let length = Int.random(in: 0..<200, using: &generator)
    return .string("\(number) " + String(repeating: "x", count: length))
  }

  private func typedValue(_ key: String) -> StoredValue {
    switch key {
    case "count": .integer(number)
    case "name": .string("name \(number)")
    case "ratio": .real(Double(number) + 0.5)
    default: .array([.string("tag"), .string("\(number)")])
    }
  }
}

/// The contents of a store, with values as text.
typealias SettingsContents = [String: String]

extension SettingsContents {
  mutating func apply(_ changes: [WriterSteps.Change]) {
    for change in changes { self[change.key] = change.value.map { "\($0)" } }
  }
}
