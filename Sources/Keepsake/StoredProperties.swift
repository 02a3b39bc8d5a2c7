// SPDX-License-Identifier: Apache-2.0
//
// The properties of a settings class, by reflection: what a store binds, what it describes of
// itself, and what is compared with a Settings bundle.

import KeepsakeInjection
public import KeepsakeValues

/// A setting as a settings class declares it, or a member of one that is stored member by member:
/// for tools that list or document settings.
public struct SettingDeclaration: Sendable, Hashable {
  /// The key in the store.
  public let key: String
  /// The property's name.
  public let property: String
  /// The type of the property or the member, as Swift prints it: `Optional<String>`.
  public let type: String
  /// The default as it would be stored; nil for nil, and where it cannot be stored.
  public let defaultValue: StoredValue?
  /// Why the default cannot be stored, which is no harm to it; nil if it can.
  public let problem: String?
}

extension SettingsStore {
  /// The settings of this class: inherited ones first, else in the order of their declaration.
  public var declarations: [SettingDeclaration] {
    storedProperties.flatMap { property in
      property.keys.map { key in
        let encoded = key.fallback.encoded
        return SettingDeclaration(
          key: key.key, property: property.name, type: key.type(), defaultValue: encoded.value,
          problem: encoded.problem)
      }
    }
  }

  var storedProperties: [StoredProperty] { levels.flatMap(\.storedProperties) }

  /// The application's own classes, inherited ones first: what the library's keep for themselves
  /// does not count.
  var levels: [Mirror] {
    sequence(first: Mirror(reflecting: self), next: \.superclassMirror)
      .prefix { $0.subjectType != SettingsStore.self }
      .filter {
        $0.subjectType != UserDefaultsStore.self && $0.subjectType != CloudKeyValueStore.self
      }
      .reversed()
  }
}

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
