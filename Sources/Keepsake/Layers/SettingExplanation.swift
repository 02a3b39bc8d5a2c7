// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
public import KeepsakeValues

/// Where the value of a key comes from: what every layer of a store says of it.
///
/// `description` is for a person, a line for each layer, the values included:
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
  /// The layers that say something, in the order in which they are asked.
  public internal(set) var layers: [Layer]
  /// Why the setting cannot read the value in force, so that a property gives its default; nil when
  /// it can, and where no setting was asked.
  public internal(set) var problem: String?
  /// Of a setting that is stored member by member: that of each member. It has no layers itself.
  public internal(set) var members: [SettingExplanation] = []

  /// The layer whose value counts: the first that has one; for a setting in the end its default,
  /// which may be nil. Nil when there is none.
  public var inForce: Layer? {
    layers.first { $0.value != nil || $0.source.isHidden } ?? layers.last { $0.source.isDeclared }
  }

  /// What one layer says.
  public struct Layer: Sendable, Hashable {
    /// Nil where the key was deleted, for a property whose default is nil or cannot be stored, and
    /// for a secret.
    public let value: StoredValue?
    /// Where that comes from.
    public let source: Source

    init(_ value: StoredValue?, _ source: Source) {
      (self.value, self.source) = (value, source)
    }

    init(_ declared: EncodedDefault) {
      self.init(declared.value, .declared(problem: declared.problem))
    }
  }

  /// Where a layer's value comes from.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Source: Sendable, Hashable {
    /// A `SettingsLayer` that was given to the store.
    case provider(Provider)
    /// The command line.
    ///
    /// - Parameter position: the index of `-key` among the arguments; the program's name has 0.
    case argument(position: Int)
    /// What was set in the store.
    case entry(Write)
    /// What was set in a suite that was added to the store.
    case suite(String, Write)
    /// `register(defaults:)`.
    case registered
    /// A Settings bundle.
    ///
    /// - Parameters:
    ///   - suite: the added suite that has the seed; nil for the store itself.
    ///   - place: file and line in the bundle: `Root.plist:12`.
    case seed(suite: String?, bundle: String, place: String)
    /// The default of the property.
    ///
    /// - Parameter problem: why it cannot be stored, which is no harm; nil if it can.
    case declared(problem: String?)

    var isDeclared: Bool {
      if case .declared = self { true } else { false }
    }

    /// Whether there is a value that is not shown, or that cannot be.
    var isHidden: Bool {
      if case .provider(let provider) = self {
        provider.isSecret || provider.problem != nil
      } else {
        false
      }
    }

    /// Why a provider cannot give the value.
    var problem: String? {
      if case .provider(let provider) = self { provider.problem } else { nil }
    }

    /// Whether it is a default, and not a setting.
    var isDefault: Bool {
      switch self {
      case .provider(let provider): !provider.isManaged
      case .argument, .entry, .suite: false
      case .registered, .seed, .declared: true
      }
    }
  }

  /// Who gives a value that the store does not keep.
  public struct Provider: Sendable, Hashable {
    /// As it names itself.
    public let name: String
    /// The key by which the value is known there, such as the name of an environment variable.
    public let key: String
    /// Whether it is above what was set, so that the key cannot be set.
    public internal(set) var isManaged = false
    /// Whether the value must not be shown.
    public let isSecret: Bool
    /// Why it cannot give the value, which is there; nil if it can.
    public internal(set) var problem: String?
    /// Tells secrets apart that have replaced each other.
    var version = 0

    init(name: String, key: String, isSecret: Bool) {
      (self.name, self.key, self.isSecret) = (name, key, isSecret)
    }
  }

  /// Who wrote an entry, and when.
  public struct Write: Sendable, Hashable {
    /// The device that wrote it.
    public let device: ReplicaID
    /// Whether it was written here, since this device has its present identity.
    public let isThisDevice: Bool
    /// When, as merges compare it.
    public let timestamp: HybridTimestamp

    /// When it was written, by that device's clock, to the millisecond.
    public var date: Date { timestamp.date }
  }
}

// MARK: - For a person

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
      ["  the setting gives its default, since it cannot read this: \($0)"]
    }
    return ([head] + lines + (reason ?? [])).joined(separator: "\n")
  }

  /// A name with a line break in it must not fake a line.
  fileprivate static func quoted(_ name: String) -> String { JSON.string(name).text() }

  fileprivate static func text(_ value: StoredValue?) -> String {
    guard let value else { return "no value" }
    return value.kind == .opaque ? "\(value), of a newer version" : "\(value)"
  }
}

extension SettingExplanation.Layer: CustomStringConvertible {
  /// One line: which layer, its value, where that comes from.
  public var description: String {
    let text = SettingExplanation.text(value)
    switch source {
    case .provider(let provider):
      let layer = provider.isManaged ? "managed" : "given default"
      let what =
        provider.problem.map { "cannot be read: \($0)" } ?? (provider.isSecret ? "a secret" : text)
      return "\(layer): \(what), \(provider)"
    case .argument(let position): return "argument \(position): \(text)"
    case .entry(let write): return value == nil ? "deleted: \(write)" : "set: \(text), \(write)"
    case .suite(let name, let write):
      return "suite \(SettingExplanation.quoted(name)), "
        + (value == nil ? "deleted: \(write)" : "set: \(text), \(write)")
    case .registered: return "registered: \(text)"
    case .seed(let suite, let bundle, let place):
      let whose = suite.map { "suite \(SettingExplanation.quoted($0)), " } ?? ""
      return "\(whose)seed: \(text), \(place) of \(bundle)"
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
