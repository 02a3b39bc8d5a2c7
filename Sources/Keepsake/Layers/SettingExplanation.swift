// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
public import KeepsakeValues

/// Explains where the value of a key comes from: the values of all layers of a store.
///
/// `description` is text for people, with a line for each layer and its value:
///
/// ```
/// "volume" in "defaults": 7
/// * set: 7, 2026-11-20T10:00:00.000Z by this device
///   registered: 3
///   seed: 5, Root.plist:12 of Settings.bundle
///   default of the property: 5
/// ```
public struct SettingExplanation: Sendable, Hashable {
  /// The store's name on the device.
  public let store: String
  /// The key in the store.
  public let key: String
  /// The layers that have the key, in the order in which a read looks for a value.
  public internal(set) var layers: [Layer]
  /// Why the setting cannot read the value in force, so that the property returns its default. Nil
  /// if it can, and for the explanation of a key without a setting.
  public internal(set) var problem: String?
  /// The explanation of each member, for a setting that is stored member by member, which has no
  /// layers itself.
  public internal(set) var members: [SettingExplanation] = []

  /// The layer whose value is in force: the first that has one, or the default of the setting,
  /// which may be nil. Nil if there is no such layer.
  public var inForce: Layer? {
    layers.first { $0.value != nil || $0.source.isHidden } ?? layers.last { $0.source.isDeclared }
  }

  /// The value of one layer.
  public struct Layer: Sendable, Hashable {
    /// Nil for a key that was deleted, for a property whose default is nil or cannot be stored, and
    /// for a secret.
    public let value: StoredValue?
    /// The kind of the layer, and the origin of the value.
    public let source: Source

    init(_ value: StoredValue?, _ source: Source) {
      (self.value, self.source) = (value, source)
    }

    init(_ declared: EncodedDefault) {
      self.init(declared.value, .declared(problem: declared.problem))
    }
  }

  /// The kind of a layer, and the origin of its value.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Source: Sendable, Hashable {
    /// A `SettingsLayer` of the store.
    case provider(Provider)
    /// A launch argument.
    ///
    /// - Parameter position: the index of `-key` among the arguments; the program's name has 0.
    case argument(position: Int)
    /// A value that was set in the store.
    case entry(Write)
    /// A value that was set in a suite that was added to the store.
    case suite(String, Write)
    /// A default of `register(defaults:)`.
    case registered
    /// A default of a Settings bundle.
    ///
    /// - Parameters:
    ///   - suite: the added suite that has the seed; nil for the store itself.
    ///   - place: file and line in the bundle: `Root.plist:12`.
    case seed(suite: String?, bundle: String, place: String)
    /// The default of the property.
    ///
    /// - Parameter problem: why it cannot be stored, which does not matter for reads; nil if it
    ///   can.
    case declared(problem: String?)

    var isDeclared: Bool {
      if case .declared = self { true } else { false }
    }

    var provider: Provider? {
      if case .provider(let provider) = self { provider } else { nil }
    }

    /// Whether the layer has a value that is secret or cannot be read.
    var isHidden: Bool { provider.map { $0.isSecret || $0.problem != nil } ?? false }

    /// Whether the value is a default: nothing was set.
    var isDefault: Bool {
      switch self {
      case .provider(let provider): !provider.isManaged
      case .argument, .entry, .suite: false
      case .registered, .seed, .declared: true
      }
    }
  }

  /// The provider of a value that the store does not keep.
  public struct Provider: Sendable, Hashable {
    /// The provider's own name.
    public let name: String
    /// The provider's key of the value, such as the name of an environment variable.
    public let key: String
    /// Whether the value is above what was set, so that the key cannot be set.
    public internal(set) var isManaged = false
    /// Whether the value must not be shown.
    public let isSecret: Bool
    /// Why the value, which exists, cannot be read; nil if it can.
    public internal(set) var problem: String?
    /// Distinguishes the successive values of a secret.
    var version = 0

    init(name: String, key: String, isSecret: Bool) {
      (self.name, self.key, self.isSecret) = (name, key, isSecret)
    }
  }

  /// The write of an entry: its device and its time.
  public struct Write: Sendable, Hashable {
    /// The device that wrote it.
    public let device: ReplicaID
    /// Whether this device wrote it, under its present replica ID.
    public let isThisDevice: Bool
    /// The time of the write, as merges compare it.
    public let timestamp: HybridTimestamp

    /// The time of the write, by that device's clock, to the millisecond.
    public var date: Date { timestamp.date }
  }
}

// MARK: - Description

extension SettingExplanation: CustomStringConvertible {
  public var description: String {
    guard members.isEmpty else { return members.map(\.description).joined(separator: "\n") }
    let inForce = layers.firstIndex { $0 == self.inForce }
    let lines = layers.enumerated().map { index, layer in
      (index == inForce ? "* " : "  ") + "\(layer)"
    }
    let isSecret = self.inForce?.source.isHidden ?? false
    let value = isSecret ? "not shown" : Self.text(self.inForce?.value)
    let head = "\(Self.quoted(key)) in \(Self.quoted(store)): \(value)"
    let reason = problem.map {
      ["  the setting returns its default, because it cannot read this value: \($0)"]
    }
    return ([head] + lines + (reason ?? [])).joined(separator: "\n")
  }

  /// Escapes line breaks: a name with one could look like another line of the description.
  fileprivate static func quoted(_ name: String) -> String { JSON.string(name).text() }

  fileprivate static func text(_ value: StoredValue?) -> String {
    guard let value else { return "no value" }
    return value.kind == .opaque ? "\(value), of a newer version" : "\(value)"
  }
}

extension SettingExplanation.Layer: CustomStringConvertible {
  /// One line: the layer, its value, and the value's origin.
  public var description: String {
    let text = SettingExplanation.text(value)
    switch source {
    case .provider(let provider):
      let layer = provider.isManaged ? "managed" : "given default"
      let shown =
        provider.problem.map { "cannot be read: \($0)" } ?? (provider.isSecret ? "a secret" : text)
      return "\(layer): \(shown), \(provider)"
    case .argument(let position): return "argument \(position): \(text)"
    case .entry(let write): return value == nil ? "deleted: \(write)" : "set: \(text), \(write)"
    case .suite(let name, let write):
      return "suite \(SettingExplanation.quoted(name)), "
        + (value == nil ? "deleted: \(write)" : "set: \(text), \(write)")
    case .registered: return "registered: \(text)"
    case .seed(let suite, let bundle, let place):
      let owner = suite.map { "suite \(SettingExplanation.quoted($0)), " } ?? ""
      return "\(owner)seed: \(text), \(place) of \(bundle)"
    case .declared(let problem):
      return "default of the property: " + (problem.map { "cannot be stored: \($0)" } ?? text)
    }
  }
}

extension SettingExplanation.Provider: CustomStringConvertible {
  /// `"THEME" of EnvironmentVariablesProvider`.
  public var description: String { "\(SettingExplanation.quoted(key)) of \(name)" }
}

extension SettingExplanation.Write: CustomStringConvertible {
  /// `2026-11-20T10:00:00.000Z by this device`.
  public var description: String {
    let time = ISO8601.text(milliseconds: timestamp.milliseconds) ?? "\(timestamp.milliseconds)"
    return "\(time) by \(isThisDevice ? "this device" : "device \(device)")"
  }
}
