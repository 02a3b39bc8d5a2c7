// SPDX-License-Identifier: Apache-2.0
//
// `CGFloat` is in this module because on Linux it needs all of Foundation, which would make the
// module `KeepsakeValues` many times as large.

public import Foundation
public import KeepsakeValues

extension CGFloat: BackingStoreConvertible {
  /// Reads what a `Double` reads.
  public static func fromBackingStore(_ value: StoredValue) throws -> CGFloat {
    CGFloat(try Double.fromBackingStore(value))
  }

  public func toBackingStore() -> StoredValue { .real(Double(self)) }
}
