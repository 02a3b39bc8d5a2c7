// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import Synchronization
import TestSupport

/// What two devices do while everything is recorded. The same seed does the same.
final class PowerWorkload {
  static let names = ["a", "b"]
  static let steps = 60

  let space: Workspace
  let recorder: Recorder
  private(set) var ledgers = PowerWorkload.names.map(Ledger.init)
  /// Clones: their names, what they were made of, and when each had been made.
  private(set) var clones: [(name: String, state: DeviceState, end: Int)] = []
  private var generator: SeededGenerator
  private var devices: [Device] = []

  init(seed: UInt64, in folder: String) throws {
    space = try Workspace(folder)
    recorder = Recorder(space.folder)
    generator = SeededGenerator(seed: seed)
  }

  func run() throws {
    recorder.start()
    defer { recorder.stop() }
    for place in 0...1 { try make(place) }
    for _ in 0..<Self.steps {
      space.clock.advance(by: .seconds(1))
      try step()
    }
    devices = []
  }

  // MARK: - Devices

  private func make(_ place: Int) throws {
    let name = Self.names[place]
    devices.append(try space.make(name, id: Int64.random(in: 1..<1 << 40, using: &generator)))
    ledgers[place].made = recorder.count
    stopCheckpoints(place)
  }

  private func reopen(_ place: Int) throws {
    devices.remove(at: place)
    devices.insert(try space.open(Self.names[place]), at: place)
    stopCheckpoints(place)
  }

  /// Those that run on a thread of their own have no place among the events.
  private func stopCheckpoints(_ place: Int) {
    devices[place].storageForTests.checkpoints?.limit(to: .max / 8)
  }

  // MARK: - Steps

  private func step() throws {
    let place = Int.random(in: 0...1, using: &generator)
    let durability: Durability =
      Int.random(in: 0..<4, using: &generator) == 0
      ? .powerSafe : .crashSafe
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<32: try write(place, count: 1, durability)
    case 32..<40: try writeAtOnce(place)
    case 40..<55: try write(place, count: Int.random(in: 2...30, using: &generator), durability)
    case 55..<60: try writeSafePart(place)
    case 60..<66: try seed(place)
    case 66..<74: try synchronize(place)
    case 74..<83: devices[place].storageForTests.checkpoints?.run()
    case 83..<91: try merge(place)
    case 91..<94: _ = try devices[place].compact(keeping: .seconds(5))
    case 94..<97: try reopen(place)
    default: try clone(place)
    }
  }

  /// Begins a step that changes shared keys.
  private func begin(_ place: Int) -> (number: Int, writes: [LocalWrite]) {
    let name = Self.names[place]
    let number = ledgers[place].steps.count
    var step = Ledger.Step(begin: recorder.count)
    step.shared["\(name) last"] = .integer(Int64(number))
    let temporary = "\(name) temporary \(Int.random(in: 0..<3, using: &generator))"
    step.shared[temporary] =
      Bool.random(using: &generator) ? .some(nil) : .string(String(repeating: "t", count: 700))
    ledgers[place].steps.append(step)
    let writes = step.shared.sorted { $0.key < $1.key }
      .map { LocalWrite(store: "cloud", key: $0.key, value: $0.value) }
    return (number, writes)
  }

  private func end(_ place: Int, _ number: Int, isSafe: Bool) {
    ledgers[place].steps[number].end = recorder.count
    if isSafe { ledgers[place].makeSafe(recorder.count) }
  }

  private func marks(_ place: Int, _ number: Int, count: Int) -> [LocalWrite] {
    let keys = (0..<count).map { "\(Self.names[place]) \(number) \($0)" }
    ledgers[place].steps[number].marks += keys
    return keys.map { LocalWrite(store: "cloud", key: $0, value: .integer(Int64(number))) }
  }

  private func write(_ place: Int, count: Int, _ durability: Durability) throws {
    let (number, shared) = begin(place)
    try devices[place].write(shared + marks(place, number, count: count), durability: durability)
    end(place, number, isSafe: durability == .powerSafe)
  }

  /// Threads that share commits, in the order in which they come. Each commit is as durable as the
  /// set that leads it, and ends before one that asks for more.
  private func writeAtOnce(_ place: Int) throws {
    let durabilities: [Durability] = (0..<Int.random(in: 2...6, using: &generator)).map { _ in
      Int.random(in: 0..<3, using: &generator) == 0 ? .powerSafe : .crashSafe
    }
    let (device, first, recorder) = (devices[place], ledgers[place].steps.count, recorder)
    let ends = Mutex([Int](repeating: .max, count: durabilities.count))
    let results = try device.together(
      durabilities.enumerated().map { number, durability in
        ledgers[place].steps.append(Ledger.Step(begin: recorder.count))
        let write = marks(place, first + number, count: 1)
        return {
          try device.write(write, durability: durability)
          ends.withLock { $0[number] = recorder.count }
        }
      })
    for result in results { try result.get() }
    var leader = Durability.crashSafe
    for (number, (durability, end)) in zip(durabilities, ends.withLock { $0 }).enumerated() {
      if number == 0 || durability > leader { leader = durability }
      ledgers[place].steps[first + number].end = end
      if leader == .powerSafe { ledgers[place].steps[first + number].safe = end }
    }
  }

  /// A part asks for more than the whole.
  private func writeSafePart(_ place: Int) throws {
    let device = devices[place]
    let (number, shared) = begin(place)
    let writes = shared + marks(place, number, count: 3)
    try device.transaction {
      try device.write(Array(writes.dropLast()))
      try device.write(writes.suffix(1), durability: .powerSafe)
    }
    end(place, number, isSafe: true)
  }

  private func seed(_ place: Int) throws {
    let number = ledgers[place].steps.count
    let key = "\(Self.names[place]) seed \(number)"
    ledgers[place].steps.append(Ledger.Step(seed: key, begin: recorder.count))
    try devices[place].seed(
      store: "standard", bundle: key,
      [DefaultValue(key: key, value: .integer(Int64(number)), source: "Root.plist:\(number)")])
    end(place, number, isSafe: false)
  }

  private func synchronize(_ place: Int) throws {
    try devices[place].synchronize()
    ledgers[place].makeSafe(recorder.count)
  }

  private func merge(_ place: Int) throws {
    let options = MergeOptions(chunkSize: Int.random(in: 3...40, using: &generator))
    _ = try Merge.run(
      [devices[place], devices[1 - place]], options: options,
      source: IdentitySource(seed: generator.next()))
  }

  private func clone(_ place: Int) throws {
    let name = "clone\(clones.count)"
    try devices[place].clone(
      to: space.path(name), identity: ReplicaID.random(using: &generator))
    clones.append((name, try DeviceState(devices[place]), recorder.count))
  }
}
