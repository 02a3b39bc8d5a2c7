// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeStorage
import Synchronization
import TestSupport
import Testing

@Suite struct ClosingTests {
  private func open(
    _ path: String, _ access: Device.Access, _ hooks: OpeningHooks
  ) throws(KeepsakeError) -> Device {
    try Device(
      path: path, access: access, busyTimeout: Device.defaultBusyTimeout, clock: .system,
      folder: nil, identity: .random(), hooks: hooks)
  }

  /// Code that runs when a file is closed may open another file.
  @Test func aFileThatLosesItsLastHandleDuringAnOpeningIsClosedWithNothingLocked() throws {
    let folder = try TemporaryFolder()
    let isFree = Mutex<Bool?>(nil)
    let other = folder.path + "/other"
    let writer = Mutex<Device?>(
      try open(
        folder.path + "/a", .create,
        OpeningHooks(beforeClosing: {
          let opens = ends { _ = try Device(path: other) }
          isFree.withLock { $0 = opens }
        })))
    let reader = try open(
      folder.path + "/a", .readOnly,
      OpeningHooks(beforeOpening: { _ = writer.withLock { $0.take() } }))
    #expect(isFree.withLock { $0 } == true)
    withExtendedLifetime(reader) {}
  }
}
