// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// A setting whose value's type is not known: what a store binds.
protocol BindableSetting: AnyObject {
  var explicitKey: String? { get }
  /// - Returns: false when this setting belongs to another store already.
  func bind(to backing: Backing, key: String) -> Bool
  /// Why a stored value cannot be read; nil if it can.
  func problem(reading value: StoredValue) -> String?
  /// The type of the value.
  var typeName: String { get }
  /// The default as it would be stored, or why it cannot be.
  var storedDefault: (value: StoredValue?, problem: String?) { get }
}
