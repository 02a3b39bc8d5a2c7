// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

/// Within a transaction a write that follows a new key's is taken for another new key's.
@Suite struct FillingTests {
  /// What a device holds, whichever it is.
  private func entries(_ device: Device) throws -> [String] {
    try device.tables.read {
      try $0.all(
        """
        SELECT store, key, type, value, timestamp, sequence_number FROM entry
        ORDER BY sequence_number
        """
      ) { row in
        "\(row.text(0)) \(row.text(1)) \((2...5).map { row.cell($0) })"
      }
    }
  }

  private func values(_ device: Device) throws -> [String: Cell] {
    let rows = try device.tables.read {
      try $0.all("SELECT store, key, value FROM entry WHERE type > 0") { row in
        ("\(row.text(0)) \(row.text(1))", row.cell(2))
      }
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  @Test(arguments: Seeds.list(20))
  func aTransactionWritesAndTellsWhatItsWritesWouldAlone(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let clock = ManualClock(milliseconds: 1_795_219_200_000)
    let (whole, alone) = (
      try Device.inMemory(clock: clock.wallClock), try Device.inMemory(clock: clock.wallClock)
    )
    for _ in 0..<20 {
      clock.milliseconds += Int64.random(in: -2...2, using: &random)
      // Many keys at first, and then again and again the same.
      let writes = (0..<Int.random(in: 1...12, using: &random)).map { _ in
        LocalWrite(
          store: random.chance(50) ? "cloud" : "defaults",
          key: "k\(Int.random(in: 0..<60, using: &random))",
          value: random.chance(25) ? nil : .integer(Int64.random(in: 0...1, using: &random)),
          wallClock: random.chance(20) ? 1_795_219_200_000 : nil)
      }
      let before = try values(alone)
      for write in writes { try alone.write([write]) }
      let after = try values(alone)
      let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
      #expect(Set(try whole.write(writes).map { "\($0.store) \($0.key)" }) == changed)
      #expect(try entries(whole) == entries(alone))
    }
  }
}
