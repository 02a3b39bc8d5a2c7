// SPDX-License-Identifier: Apache-2.0
//
// One layer of a store, and how it is read.

import KeepsakeDevice
import KeepsakeValues

/// A place where a store finds values.
enum Layer: Sendable {
  case given(SettingsLayer.Moment)
  case arguments(LaunchArguments)
  /// - Parameter suite: nil for the store's own.
  case entries(store: String, suite: String?)
  case registered(RegisteredDefaults)
  /// - Parameter suite: nil for the store's own.
  case seeds([ByteText: [Seed]], suite: String?)

  var isArguments: Bool {
    if case .arguments = self { true } else { false }
  }

  var given: SettingsLayer.Moment? {
    if case .given(let moment) = self { moment } else { nil }
  }
}

/// A default that a Settings bundle declares.
struct Seed: Sendable {
  let bundle: String
  let value: DefaultValue
}

extension Layer {
  func value(
    _ key: ByteText, _ device: Device
  ) throws(KeepsakeError) -> StoredValue? {
    switch self {
    case .given(let moment): try moment[key]?.value(at: device.path)
    case .arguments(let arguments): arguments[key]?.value
    case .entries(let store, _): try device.entry(store: store, key: key.string)?.content.value
    case .registered(let defaults): defaults[key]
    case .seeds(let seeds, _): seeds[key]?.first?.value.value
    }
  }

  /// The readings of a value whose layer does not declare its type; nil for other layers.
  func readings(_ key: ByteText) -> Readings? {
    switch self {
    case .given(let moment): moment[key].flatMap(Readings.init)
    case .arguments(let arguments): arguments[key].map(Readings.init)
    case .entries, .registered, .seeds: nil
    }
  }

  func values(_ device: Device) throws(KeepsakeError) -> [ByteText: StoredValue] {
    switch self {
    case .given: return [:]
    case .arguments(let arguments): return arguments.arguments.mapValues(\.value)
    case .entries(let store, _):
      var values: [ByteText: StoredValue] = [:]
      try device.forEachEntry(store: store) { values[$0.address.key] = $0.content.value }
      return values
    case .registered(let defaults): return defaults.all
    case .seeds(let seeds, _): return seeds.compactMapValues { $0.first?.value.value }
    }
  }

  func explanation(
    _ key: ByteText, _ device: Device, _ replica: ReplicaID
  ) throws(KeepsakeError) -> [SettingExplanation.Layer] {
    switch self {
    case .given(let moment):
      return moment[key].map {
        let shown = $0.source.isSecret ? nil : $0.readings.first
        return [SettingExplanation.Layer(shown, .provider($0.source))]
      } ?? []
    case .arguments(let arguments):
      return arguments[key].map {
        [SettingExplanation.Layer($0.value, .argument(position: $0.position))]
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
