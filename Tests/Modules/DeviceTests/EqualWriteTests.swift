// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct EqualWriteTests {
  /// In a store that is merged, a write of an equal value counts: it is later than others' writes.
  @Test(arguments: [("defaults", false), ("cloud", true)])
  func aWriteOfAnEqualValueCountsInAMergedStoreAlone(store: String, counts: Bool) throws {
    let clock = ManualClock(milliseconds: 1_795_219_200_000)
    let device = try Device.inMemory(clock: clock.wallClock)
    let write = LocalWrite(store: store, key: "k", value: 1)
    try device.write([write])
    let first = try #require(try device.entry(store: store, key: "k"))
    clock.milliseconds += 1000
    #expect(try device.write([write]).isEmpty)
    let second = try #require(try device.entry(store: store, key: "k"))
    #expect((second.timestamp > first.timestamp) == counts)
    #expect(second.content == first.content)
  }
}
