// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
public import KeepsakeInjection

extension Container {
  /// A copy of this container's registrations for one test, with new objects on an in-memory device
  /// of its own. (A plain child would share the objects that already exist, and their device.)
  ///
  /// - Parameters:
  ///   - clock: the device's clock.
  ///   - configure: registers and sets the test's replacements.
  /// - Throws: the error of `configure`, or `KeepsakeError`.
  public func forTest(
    clock: ManualClock = ManualClock(), _ configure: (Container) throws -> Void = { _ in }
  ) throws -> Container {
    try child(fresh: true) { child in
      try child.set(Device.inMemory(clock: clock))
      try configure(child)
    }
  }
}
