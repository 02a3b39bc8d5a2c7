// SPDX-License-Identifier: Apache-2.0
//
// KeepsakeTesting in tests of XCTest. `swift test --disable-swift-testing` runs them.

import Foundation
import Keepsake
import KeepsakeTesting
import XCTest

private final class Preferences: DeviceSettings, @unchecked Sendable {
  @Setting var volume = 5
}

final class XCTestUse: XCTestCase {
  func testARecorderSeesWhatWasChanged() throws {
    let settings = try Preferences(on: .inMemory())
    let recorder = ChangeRecorder(settings)
    settings.volume = 7
    XCTAssertEqual(recorder.changes(of: "volume").map(\.new), [7])
    XCTAssertEqual(settings.failures.map(\.description), [])
  }

  func testDevicesMeet() throws {
    let devices = try SimulatedDevices(count: 2, seed: 42)
    try devices[0].write([LocalWrite(store: "cloud", key: "k", value: 1)])
    try devices.settle()
    XCTAssertEqual(try devices[1].entry(store: "cloud", key: "k")?.content.value, 1)
  }
}
