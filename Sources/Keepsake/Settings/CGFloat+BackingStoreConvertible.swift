// SPDX-License-Identifier: Apache-2.0
//
// Here, because on Linux it takes all of Foundation, with which the module of the values would be
// many times as large.

public import Foundation
public import KeepsakeValues

extension CGFloat: BackingStoreConvertible {
  /// Reads what a `Double` reads.
  public static func fromBackingStore(_ value: StoredValue) throws -> CGFloat {
    CGFloat(try Double.fromBackingStore(value))
  }

  public func toBackingStore() -> StoredValue { .real(Double(self)) }
}
