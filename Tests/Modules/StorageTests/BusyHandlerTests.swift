// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeStorage
import KeepsakeValues
import TestSupport
import Testing

@Suite struct BusyHandlerTests {
  @Test func aWaitForACheckpointOfThisProcessHasNoLimit() {
    let handler = BusyHandler(.zero)
    #expect(!handler.wait(attempt: 0))
    handler.pause(true)
    // Longer than the moment that follows a pause: each attempt waits up to a millisecond.
    for attempt in 0..<100 { #expect(handler.wait(attempt: attempt)) }
    handler.pause(false)
    // That moment more, and no longer.
    var attempt = 100
    while handler.wait(attempt: attempt) { attempt += 1 }
    #expect(!handler.wait(attempt: attempt))
  }

  /// A setter waits for a second at most; what comes after it waits as long as it may.
  @Test func theLimitOfAWriteEndsWithIt() throws {
    let device = try Device.temporary()
    let write = LocalWrite(store: "defaults", key: "k", value: 1)
    try device.write([write], waiting: .milliseconds(1))
    #expect(device.storageForTests.busyHandler.limit == BusyHandler.usualLimit)
    let refused = LocalWrite(store: "defaults", key: "", value: "text")
    #expect(throws: KeepsakeError.self) {
      try device.write([refused], waiting: .milliseconds(1))
    }
    #expect(device.storageForTests.busyHandler.limit == BusyHandler.usualLimit)
  }
}
