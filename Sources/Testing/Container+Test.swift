// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
public import KeepsakeInjection

extension Container {
  /// The same program for one test: everything is made anew, on a device in memory that no other
  /// test has. A test that is not fresh would share the objects that are already made, with the
  /// device they are on.
  ///
  /// - Parameters:
  ///   - clock: where the device gets the time from.
  ///   - configure: registers and sets what else is different.
  /// - Throws: what `configure` throws, or `KeepsakeError`.
  public func forTest(
    clock: ManualClock = ManualClock(), _ configure: (Container) throws -> Void = { _ in }
  ) throws -> Container {
    try child(fresh: true) { child in
      try child.set(Device.inMemory(clock: clock))
      try configure(child)
    }
  }
}
