// SPDX-License-Identifier: Apache-2.0

import Keepsake
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeTesting
import KeepsakeValues
import Logging
import Synchronization

/// What the threads of a process share: the first that comes opens it, the last that goes lets it
/// go.
private final class Shared<Value: Sendable>: Sendable {
  private struct State {
    var (came, left) = (0, 0)
    var opened: Result<Value, any Error>?
  }

  private let state = Mutex(State())
  private let count: Int

  /// - Parameter count: how many threads use it.
  init(count: Int) { self.count = count }

  func use(_ open: () throws -> Value, _ body: (Value) throws -> Void) throws {
    let isFirst = state.withLock { state in
      defer { state.came += 1 }
      return state.came == 0
    }
    if isFirst {
      let opened = Result { try open() }
      state.withLock { $0.opened = opened }
    }
    while true {
      if let opened = state.withLock({ $0.opened }) {
        defer { leave() }
        return try body(opened.get())
      }
      letOthersGoOn()
    }
  }

  private func leave() {
    // What goes, without the lock: it closes the file.
    _ = state.withLock { state in
      state.left += 1
      guard state.left == count else { return Result<Value, any Error>?.none }
      defer { state.opened = nil }
      return state.opened
    }
  }
}

extension ScheduledScenario {
  private static let writes = 4

  private enum Part: Int, CaseIterable {
    case transactions, sets, moreSets, safeSets, reads, moreReads, checkpoints
    // Each a process of its own.
    case otherSets, otherCheckpoints

    static let threads = Part.otherSets.rawValue
    static let writing: [Part] = [.transactions, .sets, .moreSets, .safeSets, .otherSets]

    func key(_ number: Int) -> String { "\(self)/\(number % 2)" }

    /// How far it has come, as one moment shows it.
    func progress(in values: [String: StoredValue]) throws -> Int {
      let numbers = try (0...1).map { number in
        guard case .integer(let value)? = values[key(number)] else {
          throw ScheduleFailure("\(key(number)) is lost")
        }
        return Int(value)
      }
      // A transaction sets both to one number; others set them by turns.
      guard abs(numbers[0] - numbers[1]) <= (self == .transactions ? 0 : 1) else {
        throw ScheduleFailure("\(self) are at \(numbers), which no order of them leaves")
      }
      return max(numbers[0], numbers[1])
    }
  }

  private static func store(_ folder: String) throws -> CloudKeyValueStore {
    let quiet = Logger(label: "", factory: { _ in SwiftLogNoOpLogHandler() })
    return try CloudKeyValueStore(on: Device(scheduled: folder + "/file", 1), logger: quiet)
  }

  private static let shared = Shared<CloudKeyValueStore>(count: Part.threads)

  /// Sets that share commits, and readers that do not wait for them.
  package static let threads = ScheduledScenario(
    name: "threads",
    summary: "threads of a process set, read and checkpoint; two others set and checkpoint",
    steps: 1000,
    prepare: { folder in
      let store = try store(folder)
      for part in Part.writing {
        for number in 0...1 { try store.write(0, for: part.key(number)) }
      }
    },
    threads: Part.threads,
    actors: Part.allCases.map { part in
      { acknowledge, folder in
        guard part.rawValue < Part.threads else { return try play(part, acknowledge, folder) }
        try shared.use({ try store(folder) }) { try play(part, $0, acknowledge) }
      }
    },
    check: { folder, acknowledged in
      let store = try store(folder)
      try store.device.checkIntegrity()
      let values = store.dictionaryRepresentation()
      for part in Part.writing {
        let (progress, told) = (try part.progress(in: values), acknowledged[part.rawValue])
        guard progress == told, told == writes else {
          throw ScheduleFailure("\(part) are at \(progress), and \(told) were acknowledged")
        }
      }
      let findings = try store.device.examine().filter { $0.kind != .leftover }
      guard findings.isEmpty else { throw ScheduleFailure("doctor finds \(findings)") }
    })

  private static func play(
    _ part: Part, _ acknowledge: (Int) -> Void, _ folder: String
  ) throws {
    if part == .otherSets { return try play(part, store(folder), acknowledge) }
    for _ in 0..<2 { try Checkpoint.run(.file(folder + "/file"), waiting: .seconds(60)) }
  }

  private static func play(
    _ part: Part, _ store: CloudKeyValueStore, _ acknowledge: (Int) -> Void
  ) throws {
    switch part {
    case .reads, .moreReads: return try read(store)
    case .checkpoints:
      for _ in 0..<2 { store.device.storageForTests.checkpoints?.run() }
      return
    default: break
    }
    for number in 1...writes {
      let value = StoredValue.integer(Int64(number))
      switch part {
      case .transactions:
        try store.transaction {
          for half in 0...1 {
            try store.write(value, for: part.key(half))
            guard try store.read(part.key(half)) == value else {
              throw ScheduleFailure("a transaction does not read what it has set")
            }
          }
        }
      case .safeSets:
        let write = LocalWrite(store: "cloud", key: part.key(number), value: value)
        try store.device.write([write], durability: .powerSafe)
      default: try store.write(value, for: part.key(number))
      }
      acknowledge(number)
    }
  }

  /// A reading shows a moment that is not before another reading's, nor before what was told.
  private static func read(_ store: CloudKeyValueStore) throws {
    var least = Part.writing.map { _ in 0 }
    for turn in 0..<12 {
      for (place, part) in Part.writing.enumerated() {
        least[place] = max(least[place], acknowledged(by: part.rawValue))
      }
      guard turn.isMultiple(of: 3) else {
        let key = Part.sets.key(least[1])
        guard case .integer(let value)? = try store.read(key), value >= least[1] else {
          throw ScheduleFailure("\(key) is read as older than \(least[1])")
        }
        continue
      }
      let values = store.dictionaryRepresentation()
      for (place, part) in Part.writing.enumerated() {
        let progress = try part.progress(in: values)
        guard progress >= least[place] else {
          throw ScheduleFailure("\(part) are read as at \(progress) after \(least[place])")
        }
        least[place] = progress
      }
    }
    guard store.failures.isEmpty else { throw ScheduleFailure("\(store.failures)") }
  }
}
