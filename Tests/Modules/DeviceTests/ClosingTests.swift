// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeStorage
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

@Suite struct ClosingTests {
  /// A closing that saves a removed log reports it, and what gets the report may open another file.
  @Test func aFileThatLosesItsLastHandleDuringAnOpeningIsClosedWithNothingLocked() throws {
    let folder = try TemporaryFolder()
    let (path, other) = (folder.path + "/a", folder.path + "/other")
    let opens = Mutex<Bool?>(nil)
    let writer = Mutex<Device?>(try Device(path: path))
    let token = writer.withLock { $0 }?.shared.upkeep.add { _ in
      let isFree = ends { _ = try Device(path: other) }
      opens.withLock { $0 = isFree }
    }
    try writer.withLock { $0 }?.write([LocalWrite(store: "defaults", key: "k", value: 1)])
    let hooks = OpeningHooks(beforeOpening: {
      #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path + "-wal") }
      writer.withLock { $0 = nil }
    })
    #expect(throws: KeepsakeError.self) { try Device(path, .readOnly, hooks: hooks) }
    #expect(opens.withLock { $0 } == true)
    withExtendedLifetime(token) {}
  }
}
