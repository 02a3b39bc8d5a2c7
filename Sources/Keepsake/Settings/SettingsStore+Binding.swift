// SPDX-License-Identifier: Apache-2.0
//
// Binds the properties of a settings class to its store, which finds them by reflection and does
// not know the types of their values.

import KeepsakeInjection
import KeepsakeValues

/// A setting without its value's type, as a store binds it.
protocol BindableSetting: AnyObject {
  var explicitKey: String? { get }
  /// The members of a setting that is stored member by member; nil for others.
  func memberLayout() throws(SettingDeclarationError) -> MemberLayout?
  /// - Returns: false if this setting belongs to another store already.
  func bind(to binding: SettingSlot.Binding) -> Bool
  /// The keys under which this setting stores its value, or each of its members.
  ///
  /// - Parameter key: the key of a setting that is one value.
  func declaredKeys(_ key: String) -> [DeclaredKey]
}

/// A key of a setting: that of its value, or of a member.
struct DeclaredKey {
  let key: String
  let fallback: DeclaredDefault
  /// Why a stored value cannot be read; nil if it can.
  let problem: (_ stored: StoredValue) -> String?
}

extension Setting: BindableSetting {
  func declaredKeys(_ key: String) -> [DeclaredKey] {
    func declared(
      _ key: String, _ fallback: DeclaredDefault, _ whole: @escaping (StoredValue) -> StoredValue
    ) -> DeclaredKey {
      DeclaredKey(key: key, fallback: fallback) { [codec] value in
        do {
          _ = try codec.decode(whole(value))
          return nil
        } catch {
          return "\((error as? SettingFailure)?.cause ?? error)"
        }
      }
    }
    guard let layout = slot.binding?.layout else {
      return [declared(key, DeclaredDefault(fallback, codec)) { $0 }]
    }
    return layout.members.map { member in
      let fallback = SettingDefault.constant(layout.defaults[member.name])
      return declared(member.key, DeclaredDefault(fallback, SettingCodec())) {
        layout.example(with: $0, as: member)
      }
    }
  }

  func bind(to binding: SettingSlot.Binding) -> Bool { slot.bind(binding) }
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

  /// The keys of the setting; none for a property that is no setting.
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

extension SettingsStore {
  var storedProperties: [StoredProperty] { levels.flatMap(\.children).map(StoredProperty.init) }

  /// The application's own classes, inherited ones first. The library's own properties do not
  /// count.
  private var levels: [Mirror] {
    sequence(first: Mirror(reflecting: self), next: \.superclassMirror)
      .prefix { $0.subjectType != SettingsStore.self }
      .filter {
        $0.subjectType != UserDefaultsStore.self && $0.subjectType != CloudKeyValueStore.self
      }
      .reversed()
  }

  /// Gives every `Setting` among the stored properties, inherited ones too, its store and its key.
  ///
  /// A subclass's properties are initialised before this class's `init` runs, so they all exist.
  func bindSettings() throws(SettingDeclarationError) {
    guard !(self is any CustomReflectable) else {
      throw declaration("a custom mirror hides the settings; remove customMirror")
    }
    // Reflection takes a third of the time in which a store opens.
    let levels = levels
    if let hidden = levels.first(where: \.lacksMetadata)?.subjectType {
      throw declaration(
        "reflection does not show the settings of \(hidden); compile it \(Mirror.compilation)")
    }
    var defaults: [ByteText: DeclaredDefault] = [:]
    for property in levels.flatMap(\.children).map(StoredProperty.init) {
      guard let setting = property.setting else { continue }
      let layout = try layout(of: setting, property)
      for key in layout?.members.map(\.key) ?? [property.key] {
        guard defaults[ByteText(key)] == nil else {
          throw declaration("two settings have the key \"\(key)\"; give each a key of its own")
        }
      }
      try bind(setting, key: property.key, layout: layout)
      for key in setting.declaredKeys(property.key) { defaults[ByteText(key.key)] = key.fallback }
    }
    backing.declare(defaults)
  }

  private func layout(
    of setting: some BindableSetting, _ property: StoredProperty
  ) throws(SettingDeclarationError) -> MemberLayout? {
    do throws(SettingDeclarationError) {
      return try setting.memberLayout()
    } catch {
      throw declaration(
        "the setting \"\(property.name)\" cannot be stored member by member: \(error)")
    }
  }

  func bind(
    _ setting: some BindableSetting, key: String, layout: MemberLayout? = nil
  ) throws(SettingDeclarationError) {
    guard !key.isEmpty || layout != nil else {
      throw declaration("the key of a setting is empty; give it one")
    }
    guard setting.bind(to: SettingSlot.Binding(backing: backing, key: key, layout: layout)) else {
      throw declaration(
        "the setting \"\(key)\" belongs to another store; make one for each instance")
    }
  }

  private func declaration(_ problem: String) -> SettingDeclarationError {
    SettingDeclarationError(description: "\(type(of: self)): \(problem)")
  }
}
