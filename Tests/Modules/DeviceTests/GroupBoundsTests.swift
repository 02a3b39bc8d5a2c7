// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

/// What a thread that sets for others takes on.
@Suite struct GroupBoundsTests {
  private let device: Device
  init() throws { device = try .temporary() }

  private func write(_ key: String, _ value: StoredValue) -> LocalWrite {
    LocalWrite(store: "defaults", key: key, value: value)
  }

  /// A set within it would be durable only when somebody ended it.
  @Test func nothingIsSetInATransactionThatWasLeftOpen() throws {
    try device.tables.access { try $0.run("BEGIN") }
    for writes in [[write("k", 1)], [write("k", 1), write("l", 1)]] {
      expectError(.inputOutput) { try device.write(writes) }
    }
    try device.tables.access { try $0.run("ROLLBACK") }
    #expect(try device.entry(store: "defaults", key: "k") == nil)
    try device.write([write("k", 1)])
    #expect(try device.entry(store: "defaults", key: "k") != nil)
  }

  @Test func aValueThatCannotBeStoredIsRefusedAsAnywhere() throws {
    let deep = (0..<2_000).reduce(StoredValue.integer(1)) { value, _ in .array([value]) }
    func code(_ writes: [LocalWrite]) -> KeepsakeError.Code? {
      #expect(throws: KeepsakeError.self) { try device.write(writes) }?.code
    }
    let alone = code([write("k", deep)])
    #expect(alone == .invalidValue)
    #expect(alone == code([write("k", deep), write("l", 1)]))
  }
}
