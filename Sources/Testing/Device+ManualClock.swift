// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice

extension Device {
  /// An in-memory device with this clock, deleted with its last handle.
  public static func inMemory(clock: ManualClock) throws(KeepsakeError) -> Device {
    try inMemory(clock: clock.wallClock)
  }

  /// A device with this clock in a new temporary folder, deleted with its last handle.
  public static func temporary(clock: ManualClock) throws(KeepsakeError) -> Device {
    try temporary(clock: clock.wallClock)
  }
}
