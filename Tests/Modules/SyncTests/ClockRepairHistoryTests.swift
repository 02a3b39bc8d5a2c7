// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// Random histories in which clocks run a year ahead for a while, alone or two at once, and are set
/// right again. The histories of `HistoryTests` know the winner of every key; here timestamps are
/// taken back, so the claims are about what nobody may lose.
@Suite struct ClockRepairHistoryTests {
  private final class World {
    private static let year: Int64 = 365 * 86_400_000

    var generator: SeededGenerator
    let devices: [Device]
    private let clocks: [ManualClock]
    private var isFast: [Bool]
    private var hasBeenFast: [Bool]
    /// Every value that was written, by key; nil is a deletion.
    private var written: [String: [StoredValue?]] = [:]
    /// The devices that wrote a key.
    private var writers: [String: Set<Int>] = [:]
    /// The writes by devices whose clock was never ahead.
    private var honest: [String: Entry] = [:]
    private var count: Int64 = 0

    init(seed: UInt64) throws {
      generator = SeededGenerator(seed: seed)
      let count = Int.random(in: 2...4, using: &generator)
      let clocks = (0..<count).map { _ in ManualClock() }
      self.clocks = clocks
      isFast = clocks.map { _ in false }
      hasBeenFast = isFast
      var devices: [Device] = []
      for clock in clocks {
        clock.milliseconds = clocks[0].milliseconds
        devices.append(
          try Device.inMemory(identity: .random(using: &generator), clock: clock.wallClock))
      }
      self.devices = devices
    }

    private func pick() -> Int { Int.random(in: devices.indices, using: &generator) }

    func step() throws {
      let place = pick()
      let time = Int64.random(in: 1...86_400_000, using: &generator)
      for clock in clocks { clock.milliseconds += time }
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<55:
        try write(place, key: ["a", "b", "c", "d"].randomElement(using: &generator) ?? "a")
      case 55..<85: try meet(place, pick(), isOneWay: generator.chance(15))
      case 85..<91 where isFast.count { $0 } < 2 && !isFast[place]: speed(place, by: 1)
      default: if isFast[place] { try correct(place) }
      }
    }

    private func speed(_ place: Int, by sign: Int64) {
      clocks[place].milliseconds += sign * Self.year
      isFast[place] = sign > 0
      hasBeenFast[place] = true
    }

    private func correct(_ place: Int) throws {
      speed(place, by: -1)
      try devices[place].repairClock(as: .random(using: &generator))
    }

    func write(_ place: Int, key: String) throws {
      count += 1
      let value: StoredValue? = generator.chance(20) ? nil : .integer(count)
      try devices[place].write([LocalWrite(store: "cloud", key: key, value: value)])
      written[key, default: []].append(value)
      writers[key, default: []].insert(place)
      let entry = try #require(try devices[place].entry(store: "cloud", key: key))
      if honest[key].map({ entry.beats($0) }) ?? true { honest[key] = entry }
    }

    private func meet(_ a: Int, _ b: Int, isOneWay: Bool) throws {
      guard a != b else { return }
      let options = MergeOptions(isOneWay: isOneWay, chunkSize: 2)
      _ = try Merge.run([devices[a], devices[b]], options: options, using: &generator)
    }

    /// All clocks are right, all repairs are made, and everybody meets until nothing changes.
    func settle() throws {
      for place in devices.indices where isFast[place] { try correct(place) }
      for _ in 0..<3 {
        for device in devices {
          try device.repairClock(isForced: true, as: .random(using: &generator))
        }
        _ = try Merge.run(devices, options: MergeOptions(), using: &generator)
      }
      let last = try Merge.run(devices, options: MergeOptions(), using: &generator)
      #expect(last.hasConverged)
      #expect(last.transfers.allSatisfy { $0.received == 0 })
    }

    private func contents(_ device: Device) throws -> [Address: Entry] {
      var all: [Address: Entry] = [:]
      try device.forEachEntry { all[$0.address] = $0 }
      return all
    }

    func check() throws {
      let first = try contents(devices[0])
      for device in devices {
        #expect(try contents(device) == first)
        #expect(try device.core.access { try Held.count($0) } == 0)
        #expect(try device.examine().isEmpty)
      }
      #expect(Set(first.keys.map(\.key.string)) == Set(written.keys))
      for (address, entry) in first {
        let key = address.key.string
        #expect(written[key]?.contains(entry.content.value) == true)
        let isHonest = writers[key]?.allSatisfy { !hasBeenFast[$0] } == true
        if isHonest { #expect(entry == honest[key]) }
        if writers[key]?.count == 1 { #expect(entry.content.value == written[key]?.last) }
      }
    }
  }

  @Test(arguments: Seeds.list(60, debug: 15))
  func afterAllRepairsAllHoldTheSameAndNothingIsFromTheFuture(seed: UInt64) throws {
    let world = try World(seed: seed)
    for _ in 0..<30 { try world.step() }
    try world.settle()
    try world.check()
    // Whoever writes from now on wins everywhere.
    for key in ["a", "b", "c", "d"] { try world.write(0, key: key) }
    _ = try Merge.run(world.devices, options: MergeOptions(), using: &world.generator)
    try world.settle()
    try world.check()
    for device in world.devices.dropFirst() {
      for key in ["a", "b", "c", "d"] {
        let theirs = try device.entry(store: "cloud", key: key)
        #expect(try theirs == world.devices[0].entry(store: "cloud", key: key))
        #expect(try theirs?.origin == world.devices[0].replica())
      }
    }
  }
}
