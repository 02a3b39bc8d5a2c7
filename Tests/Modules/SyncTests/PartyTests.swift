// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct PartyTests {
  /// Two devices and what the last writer of each key has left.
  private struct World {
    let devices: [Device]
    let clock = ManualClock()
    private let parties: [any Party]
    private var random: SeededGenerator
    private(set) var last: [String: StoredValue] = [:]

    init(_ seed: UInt64, _ party: (Device) -> any Party) throws {
      random = SeededGenerator(seed: seed)
      var devices: [Device] = []
      for id in 1...2 {
        devices.append(
          try Device.inMemory(identity: ReplicaID(rawValue: Int64(id)), clock: clock.wallClock))
      }
      self.devices = devices
      parties = [devices[0].party(), party(devices[1])]
    }

    mutating func write() throws {
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        let device = devices[Int.random(in: 0...1, using: &random)]
        let key = "k\(Int.random(in: 0..<6, using: &random))"
        clock.milliseconds += 1
        last[key] = random.chance(30) ? nil : .integer(clock.milliseconds)
        try device.write([LocalWrite(store: "cloud", key: key, value: last[key])])
      }
    }

    /// An exchange, in the order of its steps, and sometimes a collection of what both know then.
    mutating func exchange() throws {
      var exchange = Exchange(parties, 0, 1, stores: [ByteText("cloud")])
      #expect(try exchange.doubtful(exchange.snapshot()).isEmpty)
      try exchange.introduce()
      try exchange.lookBack()
      var options = MergeOptions()
      options.chunkSize = Int.random(in: 1...4, using: &random)
      for place in [0, 1, 0] {
        var result = Pull.Result(changeLimit: .max)
        try exchange.pull(
          into: place, options: options, needsReader: false, &result, using: &random)
      }
      try exchange.acknowledge()
      try exchange.note()
      #expect(try !exchange.hasUnread())
      if random.chance(20) { try devices[0].compact(keeping: .milliseconds(-1)) }
    }

    func contents(_ place: Int) throws -> [String] {
      var lines: [String] = []
      try devices[place].forEachEntry { lines.append("\($0)") }
      return try lines + devices[place].conflicts().map { "\($0)" }
    }
  }

  @Test(arguments: Seeds.list(30, debug: 6))
  func whatIsReadFromStagedRowsIsWhatIsReadFromAFile(seed: UInt64) throws {
    var files = try World(seed) { $0.party() }
    var staged = try World(seed) { StagedParty($0) }
    for _ in 0..<6 {
      try files.write()
      try staged.write()
      try files.exchange()
      try staged.exchange()
      for place in 0...1 {
        #expect(try staged.contents(place) == files.contents(place), "seed \(seed)")
        var values: [String: StoredValue] = [:]
        try staged.devices[place].forEachEntry {
          values[$0.address.key.string] = $0.content.value
        }
        #expect(values == staged.last, "seed \(seed)")
      }
    }
  }
}
