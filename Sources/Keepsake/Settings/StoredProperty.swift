// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import KeepsakeValues

extension Mirror {
  var storedProperties: [StoredProperty] { children.map(StoredProperty.init) }
}

/// A property as reflection shows it.
struct StoredProperty {
  let name: String
  /// Nil for a property that is no setting.
  let setting: (any BindableSetting)?

  init(_ child: Mirror.Child) {
    name = Self.name(child.label)
    setting = child.value as? any BindableSetting
  }

  /// The key of a setting, else the name.
  var key: String { setting?.explicitKey ?? name }

  /// What the setting stores; nothing for a property that is none.
  var keys: [DeclaredKey] { setting?.declaredKeys(key) ?? [] }

  /// A wrapped property is stored under its name with an underscore before it, a lazy one with
  /// `$__lazy_storage_$_`.
  private static func name(_ label: String?) -> String {
    guard let label else { return "" }
    for prefix in ["$__lazy_storage_$_", "_"] where label.hasPrefix(prefix) {
      return String(label.dropFirst(prefix.count))
    }
    return label
  }
}
