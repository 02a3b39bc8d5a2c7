// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// A setting without its value's type, as a store binds it.
protocol BindableSetting: AnyObject {
  var explicitKey: String? { get }
  /// The members of a setting that is stored member by member; nil for others.
  func fields() throws(SettingDeclarationError) -> Fields?
  /// - Returns: false when this setting belongs to another store already.
  func bind(to binding: SettingSlot.Binding) -> Bool
  /// The keys under which this setting stores its value, or each of its members.
  ///
  /// - Parameter key: of a setting that is one value.
  func declaredKeys(_ key: String) -> [DeclaredKey]
}

/// A key of a setting: that of its value, or of a member.
struct DeclaredKey {
  let key: String
  let fallback: DeclaredDefault
  /// Why a stored value cannot be read; nil if it can.
  let problem: (_ reading: StoredValue) -> String?
}
