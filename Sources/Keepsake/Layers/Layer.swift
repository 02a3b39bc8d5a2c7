// SPDX-License-Identifier: Apache-2.0
//
// One layer of a store, and how it is read.

package import KeepsakeDevice
package import KeepsakeSettingsBundle
import KeepsakeValues

/// A source of values in a store.
enum Layer: Sendable {
  case provider(SettingsLayer.Snapshot)
  case arguments(LaunchArguments)
  /// - Parameter suite: nil for the store's own.
  case entries(store: String, suite: String?)
  case registered(RegisteredDefaults)
  /// - Parameter suite: nil for the store's own.
  case seeds([ByteText: [Seed]], suite: String?)

  var isArguments: Bool {
    if case .arguments = self { true } else { false }
  }

  var provided: SettingsLayer.Snapshot? {
    if case .provider(let snapshot) = self { snapshot } else { nil }
  }
}

extension Layer {
  func value(_ key: ByteText, on device: Device) throws(KeepsakeError) -> ValueInForce? {
    switch self {
    case .provider(let snapshot):
      guard let provided = snapshot[key] else { return nil }
      return try ValueInForce(provided, path: device.path)
    case .arguments(let arguments): return arguments.values[key]
    case .entries(let store, _):
      return try device.entry(store: store, key: key.string)?.content.value.map(ValueInForce.init)
    case .registered(let defaults): return defaults[key].map(ValueInForce.init)
    case .seeds(let seeds, _): return seeds[key]?.first.map { ValueInForce($0.value.value) }
    }
  }

  /// The values of all keys; none for a provider, which cannot list its keys.
  func values(on device: Device) throws(KeepsakeError) -> [ByteText: ValueInForce] {
    switch self {
    case .provider: return [:]
    case .arguments(let arguments): return arguments.values
    case .entries(let store, _):
      var values: [ByteText: ValueInForce] = [:]
      try device.forEachEntry(store: store) {
        values[$0.address.key] = $0.content.value.map(ValueInForce.init)
      }
      return values
    case .registered(let defaults): return defaults.all.mapValues(ValueInForce.init)
    case .seeds(let seeds, _):
      return seeds.compactMapValues { $0.first.map { ValueInForce($0.value.value) } }
    }
  }

  func explanation(
    _ key: ByteText, on device: Device, replica: ReplicaID
  ) throws(KeepsakeError) -> [SettingExplanation.Layer] {
    switch self {
    case .provider(let snapshot):
      return snapshot[key].map {
        let shown = $0.source.isSecret ? nil : $0.readings.first
        return [SettingExplanation.Layer(shown, .provider($0.source))]
      } ?? []
    case .arguments(let arguments):
      return arguments.values[key].map {
        [SettingExplanation.Layer($0.value, .argument(position: $0.argument ?? 0))]
      } ?? []
    case .entries(let store, let suite):
      guard let entry = try device.entry(store: store, key: key.string) else { return [] }
      let write = SettingExplanation.Write(
        device: entry.replicaID, isThisDevice: entry.replicaID == replica,
        timestamp: entry.timestamp)
      let source = suite.map { SettingExplanation.Source.suite($0, write) } ?? .entry(write)
      return [SettingExplanation.Layer(entry.content.value, source)]
    case .registered(let defaults):
      return defaults[key].map { [SettingExplanation.Layer($0, .registered)] } ?? []
    case .seeds(let seeds, let suite):
      return (seeds[key] ?? []).map {
        SettingExplanation.Layer(
          $0.value.value, .seed(suite: suite, bundle: $0.bundle, place: $0.value.source))
      }
    }
  }
}

/// A default that a Settings bundle declares.
typealias Seed = (bundle: String, value: DefaultValue)

extension SettingsBundle {
  /// The seeds as a device stores them.
  var defaults: [DefaultValue] {
    seeds.map { DefaultValue(key: $0.key, value: $0.value, source: $0.place) }
  }
}

extension Device {
  /// Replaces a store's defaults from a Settings bundle. Values that were set stay.
  ///
  /// - Throws: `KeepsakeError`; then the defaults are unchanged.
  package func seed(store: String, from bundle: SettingsBundle) throws(KeepsakeError) {
    try seed(store: store, bundle: bundle.identifier, bundle.defaults)
  }
}
