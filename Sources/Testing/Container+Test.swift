// SPDX-License-Identifier: Apache-2.0

import Keepsake
import KeepsakeDevice
public import KeepsakeInjection

extension Container {
  /// A copy of this container's registrations for one test, with new objects on in-memory devices.
  /// (A plain child would share the objects that already exist, and their device.)
  ///
  /// Each registration of a `Device` has an in-memory one, whatever its name, its scope and its
  /// recipe. A recipe of this container that opens a file itself throws `KeepsakeError` with
  /// `permissionDenied`; it should get its device from the container. Devices and stores that were
  /// `set` are not shared: lookups throw until the test sets its own.
  ///
  /// - Parameters:
  ///   - clock: the devices' clock.
  ///   - configure: registers and sets the test's replacements.
  /// - Throws: the error of `configure`.
  public func forTest(
    clock: ManualClock = ManualClock(), _ configure: (Container) throws -> Void = { _ in }
  ) throws -> Container {
    Device.refusesFiles.withLock { $0 = { Container.runsCopyForTest } }
    let test = freshChild(
      replacing: Device.self, by: { try Device.inMemory(clock: clock) },
      sharing: { !($0 is Device) && !($0 is SettingsStore) })
    try configure(test)
    return test
  }
}
