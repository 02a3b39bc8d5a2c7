// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a store come from, first hit wins:
//
//   launch arguments → own entries → added suites, the last added first
//   → registered defaults → seeds, own ones first, then the suites'
//   → the default of a property, which the property itself has, and `Backing` for reads by key
//
// Everything that reads asks the same layers in the same order, whether for one key, for all or for
// an explanation. Writes go to the own entries, and know nothing of this.
//
// Threading: the suites have a lock; everything else is immutable or has its own. A change of the
// layers makes a new read version, so what was read before is known to be old.

import KeepsakeDevice
import KeepsakeSettingsBundle
import KeepsakeValues
import Synchronization

/// A place where a store finds values.
private enum Layer: Sendable {
  case arguments(LaunchArguments)
  /// - Parameter suite: nil for the store's own.
  case entries(store: String, suite: String?)
  case registered(RegisteredDefaults)
  /// - Parameter suite: nil for the store's own.
  case seeds([ByteText: [Seed]], suite: String?)

  var isArguments: Bool {
    if case .arguments = self { true } else { false }
  }

  /// What was set in the store itself.
  var isOwn: Bool {
    if case .entries(_, nil) = self { true } else { false }
  }
}

/// A default that a Settings bundle declares.
private struct Seed: Sendable {
  let bundle: String
  let value: DefaultValue
}

final class Layers: Sendable {
  let arguments: LaunchArguments
  private let device: Device
  private let store: String
  /// What the process registered with the device; nil for a store that does not see it.
  private let registered: RegisteredDefaults?
  /// As they were when the store was opened; of those for one key the first counts.
  private let seeds: [ByteText: [Seed]]

  private struct Suite {
    let name: String
    let store: String
    /// As they were when the suite was added.
    let seeds: [ByteText: [Seed]]
  }

  private struct State {
    /// The last added first.
    var suites: [Suite] = []
    var stack: [Layer] = []
  }

  private let state = Mutex(State())

  /// - Parameter bundle: wins over what the file knows of other bundles.
  init(
    device: Device, store: String, arguments: LaunchArguments, registered: RegisteredDefaults?,
    bundle: SettingsBundle?
  ) throws(KeepsakeError) {
    (self.device, self.store) = (device, store)
    (self.arguments, self.registered) = (arguments, registered)
    seeds = try Self.seeds(device, store, bundle)
    change { _ in }
  }

  // MARK: - Reading

  /// The value of the first layer that has one.
  func value(_ key: ByteText) throws(KeepsakeError) -> StoredValue? {
    try read { (stack) throws(KeepsakeError) in try first(key, of: stack) }
  }

  /// The same where the store's own entry is another, or none.
  func value(_ key: ByteText, set value: StoredValue?) throws(KeepsakeError) -> StoredValue? {
    try read { (stack) throws(KeepsakeError) in
      for layer in stack {
        if let value = layer.isOwn ? value : try layer.value(key, device) { return value }
      }
      return nil
    }
  }

  /// The same of several keys, of one moment.
  func values(_ keys: [ByteText]) throws(KeepsakeError) -> [StoredValue?] {
    let stack = state.withLock { $0.stack }
    return try device.core.survey { _ in try keys.map { try first($0, of: stack) } }
  }

  /// The same without the launch arguments.
  func valuesBelowArguments(_ keys: [String]) throws(KeepsakeError) -> [StoredValue?] {
    let stack = state.withLock { $0.stack }.filter { !$0.isArguments }
    return try device.core.survey { _ in try keys.map { try first(ByteText($0), of: stack) } }
  }

  private func first(_ key: ByteText, of stack: [Layer]) throws(KeepsakeError) -> StoredValue? {
    for layer in stack {
      if let value = try layer.value(key, device) { return value }
    }
    return nil
  }

  /// Every key that has a value in some layer, with the value of the first such layer.
  func values() throws(KeepsakeError) -> [ByteText: StoredValue] {
    try read { (stack) throws(KeepsakeError) in
      var values: [ByteText: StoredValue] = [:]
      for layer in stack { values.merge(try layer.values(device)) { upper, _ in upper } }
      return values
    }
  }

  /// What every layer has to say of a key.
  func explanation(_ key: ByteText) throws(KeepsakeError) -> [SettingExplanation.Layer] {
    let stack = state.withLock { $0.stack }
    return try device.core.survey { connection in
      let replica = try ReplicaState(connection).id
      return try stack.flatMap { try $0.explanation(key, device, replica) }
    }
  }

  /// What is read in `body` is of one moment.
  private func read<Value>(
    _ body: ([Layer]) throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    let (stack, hasSuites) = state.withLock { ($0.stack, !$0.suites.isEmpty) }
    // The entries of one store are read by one statement, which needs no transaction.
    return hasSuites ? try device.core.survey { _ in try body(stack) } : try body(stack)
  }

  // MARK: - Suites

  /// Puts a suite right below the own entries, also one that is there already.
  func addSuite(_ name: String) throws {
    let suite = StoreName.defaults(suite: name)
    guard !suite.isSameBytes(as: store) else {
      throw SettingDeclarationError(
        description: "the suite \"\(name)\" is this store itself; add another")
    }
    let seeds = try Self.seeds(device, suite, nil)
    change { suites in
      suites.removeAll { $0.store.isSameBytes(as: suite) }
      suites.insert(Suite(name: name, store: suite, seeds: seeds), at: 0)
    }
  }

  func removeSuite(_ name: String) {
    change { $0.removeAll { $0.name.isSameBytes(as: name) } }
  }

  /// Changes the suites, and puts the layers in their order.
  private func change(_ body: (inout [Suite]) -> Void) {
    state.withLock { state in
      body(&state.suites)
      let suites = state.suites
      state.stack =
        [.arguments(arguments), .entries(store: store, suite: nil)]
        + suites.map { .entries(store: $0.store, suite: $0.name) }
        + (registered.map { [.registered($0)] } ?? [])
        + [.seeds(seeds, suite: nil)] + suites.map { .seeds($0.seeds, suite: $0.name) }
    }
    device.core.versions.layersDidChange()
  }

  private static func seeds(
    _ device: Device, _ store: String, _ bundle: SettingsBundle?
  ) throws(KeepsakeError) -> [ByteText: [Seed]] {
    var seeds = try device.declarations(store: store).map(Seed.init)
    if let bundle {
      seeds.removeAll { $0.bundle.isSameBytes(as: bundle.identifier) }
      seeds = bundle.defaults.map { Seed(bundle: bundle.identifier, value: $0) } + seeds
    }
    return Dictionary(grouping: seeds) { ByteText($0.value.key) }
  }
}

extension Layer {
  fileprivate func value(
    _ key: ByteText, _ device: Device
  ) throws(KeepsakeError) -> StoredValue? {
    switch self {
    case .arguments(let arguments): arguments[key]?.value
    case .entries(let store, _): try device.entry(store: store, key: key.string)?.content.value
    case .registered(let defaults): defaults[key]
    case .seeds(let seeds, _): seeds[key]?.first?.value.value
    }
  }

  fileprivate func values(_ device: Device) throws(KeepsakeError) -> [ByteText: StoredValue] {
    switch self {
    case .arguments(let arguments): return arguments.arguments.mapValues(\.value)
    case .entries(let store, _):
      var values: [ByteText: StoredValue] = [:]
      try device.forEachEntry(store: store) { values[$0.address.key] = $0.content.value }
      return values
    case .registered(let defaults): return defaults.all
    case .seeds(let seeds, _): return seeds.compactMapValues { $0.first?.value.value }
    }
  }

  fileprivate func explanation(
    _ key: ByteText, _ device: Device, _ replica: ReplicaID
  ) throws(KeepsakeError) -> [SettingExplanation.Layer] {
    switch self {
    case .arguments(let arguments):
      return arguments[key].map {
        [SettingExplanation.Layer($0.value, .argument(position: $0.position, form: $0.form))]
      } ?? []
    case .entries(let store, let suite):
      guard let entry = try device.entry(store: store, key: key.string) else { return [] }
      let write = SettingExplanation.Write(
        device: entry.origin, isThisDevice: entry.origin == replica, timestamp: entry.timestamp)
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
