// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

// Each is one step for all threads and processes of a device, as `update`.

extension Setting where Value: FixedWidthInteger {
  /// Adds to the value.
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

extension Setting where Value == Bool {
  /// Turns true to false and false to true. Two devices that each do so have toggled once after a
  /// merge.
  ///
  /// - Returns: the new value.
  /// - Throws: as `update`.
  @discardableResult
  public func toggle() throws -> Bool {
    try update { value in
      value.toggle()
      return value
    }
  }
}

extension Setting where Value: Equatable {
  /// Stores a value if the present one is `expected` on this device: after a merge the later of two
  /// devices' values is in force, though both have returned true.
  ///
  /// - Returns: whether it was stored.
  /// - Throws: as `update`.
  public func compareAndSet(_ expected: Value, to value: Value) throws -> Bool {
    try transaction {
      guard try read() == expected else { return false }
      try write(value)
      return true
    }
  }
}
