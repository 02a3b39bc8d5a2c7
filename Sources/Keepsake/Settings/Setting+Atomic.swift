// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension Setting where Value: FixedWidthInteger {
  /// Adds to the value, as one step for all threads and processes of a device.
  ///
  /// Not across devices: in a store that syncs, two devices that each add 1 to 0 have 1 after a
  /// merge, and no conflict. Count under a key for each device, and read the sum.
  ///
  /// - Returns: the new value.
  /// - Throws: as `update`; `ValueError` when the sum does not fit the type.
  @discardableResult
  public func increment(by amount: Value = 1) throws -> Value {
    try update { value in
      let (sum, overflow) = value.addingReportingOverflow(amount)
      guard !overflow else {
        throw ValueError(
          .invalid, "the sum does not fit in a \(Value.self); use a larger type")
      }
      value = sum
      return sum
    }
  }
}
