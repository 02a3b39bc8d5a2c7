// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice

extension Device {
  /// A device in memory, gone with its last handle, that gets the time from `clock`.
  public static func inMemory(clock: ManualClock) throws(KeepsakeError) -> Device {
    try inMemory(clock: clock.wallClock)
  }

  /// A device in a new temporary folder, deleted with its last handle, that gets the time from
  /// `clock`.
  public static func temporary(clock: ManualClock) throws(KeepsakeError) -> Device {
    try temporary(clock: clock.wallClock)
  }
}
