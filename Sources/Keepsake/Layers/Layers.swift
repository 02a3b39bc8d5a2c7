// SPDX-License-Identifier: Apache-2.0
//
// The layers of a store, in the order in which they are read; the first one with a value wins:
//
//   managed values → launch arguments → own entries → added suites, the last added first
//   → providers' defaults → registered ones → seeds, own ones first, then the suites'
//   → the default of a property, which the property itself has, and `Backing` for reads by key
//
// Reads of one key, of all keys and of explanations use the same layers in the same order. Writes
// change the own entries only, and are rejected for managed keys.
//
// Threading: a lock protects the suites and the providers' snapshots; everything else is immutable
// or has a lock of its own. A change of the layers makes a new read version, which invalidates
// cached values.

import KeepsakeDevice
import KeepsakeSettingsBundle
import KeepsakeValues
import Synchronization

final class Layers: Sendable {
  /// A value, or the error of a layer that has a value and cannot read it.
  typealias Lookup = Result<StoredValue?, KeepsakeError>

  /// The values of all keys.
  struct AllValues {
    var values: [ByteText: ValueInForce] = [:]
    /// The errors of values that their layer cannot read.
    var unreadable: [ByteText: KeepsakeError] = [:]
  }

  /// The first of one place wins.
  private let providers: [SettingsLayer]
  private let arguments: LaunchArguments
  private let device: Device
  private let store: String
  /// The defaults that the process registered with the device; nil for a store that ignores them.
  private let registered: RegisteredDefaults?
  /// The seeds at the time of opening the store; the first of one key wins.
  private let seeds: [ByteText: [Seed]]

  private struct Suite {
    let name: String
    let store: String
    /// The seeds at the time when the suite was added.
    let seeds: [ByteText: [Seed]]
  }

  private struct State {
    /// The last added first.
    var suites: [Suite] = []
    /// The snapshots of the providers.
    var snapshots: [SettingsLayer.Snapshot] = []
    var stack: [Layer] = []
  }

  private let state = Mutex(State())

  /// The layers in the order in which they are read.
  private var stack: [Layer] { state.withLock { $0.stack } }

  /// - Parameters:
  ///   - providers: the first of one place wins.
  ///   - bundle: wins over other bundles, whose defaults the file has.
  init(
    device: Device, store: String, providers: [SettingsLayer], arguments: LaunchArguments,
    registered: RegisteredDefaults?, bundle: SettingsBundle?
  ) throws(KeepsakeError) {
    (self.device, self.store, self.providers) = (device, store, providers)
    (self.arguments, self.registered) = (arguments, registered)
    seeds = try Self.seeds(of: store, on: device, bundle)
    takeSnapshots()
  }

  // MARK: - Reading

  /// The value of the first layer that has one.
  func value(_ key: ByteText) throws(KeepsakeError) -> StoredValue? {
    try read { (stack) throws(KeepsakeError) in try first(key, of: stack)?.value }
  }

  /// The values of several keys, from one snapshot.
  func values(
    _ keys: [String], withoutArguments: Bool = false
  ) throws(KeepsakeError) -> [Lookup] {
    let stack = withoutArguments ? stack.filter { !$0.isArguments } : stack
    return try device.survey {
      try keys.map { try lookUp(ByteText($0), in: stack).map { $0?.value } }
    }
  }

  private func first(_ key: ByteText, of stack: [Layer]) throws(KeepsakeError) -> ValueInForce? {
    for layer in stack {
      if let value = try layer.value(key, on: device) { return value }
    }
    return nil
  }

  /// As `first`, with the error of a layer that cannot read its value as a result.
  private func lookUp(
    _ key: ByteText, in stack: [Layer]
  ) throws(KeepsakeError) -> Result<ValueInForce?, KeepsakeError> {
    do throws(KeepsakeError) {
      return .success(try first(key, of: stack))
    } catch {
      guard error.code == .invalidValue else { throw error }
      return .failure(error)
    }
  }

  /// The value in force, if its layer does not declare its type.
  ///
  /// - Parameter value: the value that was read in force.
  func untypedValue(
    _ key: ByteText, equalTo value: StoredValue
  ) throws(KeepsakeError) -> ValueInForce? {
    guard !providers.isEmpty || arguments.values[key] != nil else { return nil }
    let found = try first(key, of: stack)
    // The value may have changed since it was read.
    return found?.value == value ? found : nil
  }

  /// Every key that has a value in some layer, with the value of the first such layer.
  ///
  /// - Parameter declared: keys that providers may have too.
  func allValues(and declared: [ByteText]) throws(KeepsakeError) -> AllValues {
    try read(often: !providers.isEmpty) { (stack) throws(KeepsakeError) in
      var all = AllValues()
      for layer in stack {
        all.values.merge(try layer.values(on: device)) { upper, _ in upper }
      }
      guard !providers.isEmpty else { return all }
      for key in Set(declared).union(all.values.keys) {
        let provided = stack.compactMap { $0.provided?[key] }
        guard !provided.isEmpty else { continue }
        switch try lookUp(key, in: stack) {
        case .success(let value):
          all.values[key] = value
          all.values[key]?.isSecret = provided.contains { $0.source.isSecret }
        case .failure(let error): (all.values[key], all.unreadable[key]) = (nil, error)
        }
      }
      return all
    }
  }

  /// Explains each key by every layer but the default of a property, with the value in force, which
  /// an explanation may hide; all from one snapshot.
  func explanations(
    _ keys: [String]
  ) throws(KeepsakeError) -> [(explanation: SettingExplanation, inForce: Lookup)] {
    let stack = stack
    return try device.survey {
      let replica = try device.replica()
      return try keys.map { name in
        let key = ByteText(name)
        let layers = try stack.flatMap { try $0.explanation(key, on: device, replica: replica) }
        return (
          SettingExplanation(store: store, key: name, layers: layers),
          try lookUp(key, in: stack).map { $0?.value }
        )
      }
    }
  }

  /// Runs `body` so that it reads one snapshot.
  ///
  /// - Parameter often: whether `body` reads a store's entries more than once.
  private func read<Value>(
    often: Bool = false, _ body: ([Layer]) throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    let (stack, hasSuites) = state.withLock { ($0.stack, !$0.suites.isEmpty) }
    // The entries of one store are read by one statement, which needs no transaction.
    return hasSuites || often ? try device.survey { try body(stack) } : try body(stack)
  }

  // MARK: - Suites

  /// Puts a suite right below the own entries, even if it was added before.
  func addSuite(_ name: String) throws {
    let suite = StoreName.defaults(suite: name)
    guard !suite.isSameBytes(as: store) else {
      throw SettingDeclarationError(
        description: "the suite \"\(name)\" is this store itself; add another")
    }
    let seeds = try Self.seeds(of: suite, on: device, nil)
    change { state in
      state.suites.removeAll { $0.store.isSameBytes(as: suite) }
      state.suites.insert(Suite(name: name, store: suite, seeds: seeds), at: 0)
    }
  }

  func removeSuite(_ name: String) {
    change { $0.suites.removeAll { $0.name.isSameBytes(as: name) } }
  }

  private static func seeds(
    of store: String, on device: Device, _ bundle: SettingsBundle?
  ) throws(KeepsakeError) -> [ByteText: [Seed]] {
    var seeds = try device.declarations(store: store)
    if let bundle {
      seeds.removeAll { $0.bundle.isSameBytes(as: bundle.identifier) }
      seeds = bundle.defaults.map { (bundle.identifier, $0) } + seeds
    }
    return Dictionary(grouping: seeds) { ByteText($0.value.key) }
  }

  /// Changes the layers, and sorts them.
  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      let (suites, snapshots) = (state.suites, state.snapshots)
      func providers(_ place: SettingsLayer.Place) -> [Layer] {
        snapshots.filter { $0.place == place }.map { .provider($0) }
      }
      state.stack =
        providers(.managed) + [.arguments(arguments), .entries(store: store, suite: nil)]
        + suites.map { .entries(store: $0.store, suite: $0.name) }
        + providers(.defaults) + (registered.map { [.registered($0)] } ?? [])
        + [.seeds(seeds, suite: nil)] + suites.map { .seeds($0.seeds, suite: $0.name) }
    }
    device.shared.layers.change()
  }

  // MARK: - Providers

  /// The provider of a key's managed value; nil for none.
  func manager(of key: String) -> SettingExplanation.Provider? {
    guard providers.contains(where: { $0.place == .managed }) else { return nil }
    return stack.lazy.compactMap(\.provided)
      .filter { $0.place == .managed }.compactMap { $0[ByteText(key)]?.source }.first
  }

  /// Reads the providers' present values from now on.
  func takeSnapshots() { change { $0.snapshots = providers.map(\.snapshot) } }

  /// Reads the providers' present values from now on.
  ///
  /// - Parameter keys: called after that. Returns the keys to compare besides those of the other
  ///   layers; nil if no observer is to be notified of the changes.
  /// - Returns: the keys with another value; a value that cannot be read counts as none.
  func reload(_ keys: () -> [ByteText]?) throws(KeepsakeError) -> [LayerChange] {
    let (old, snapshots) = state.withLock { ($0.stack, $0.snapshots) }
    guard providers.map(\.snapshot.version) != snapshots.map(\.version) else { return [] }
    takeSnapshots()
    // After `takeSnapshots`: an observer that is added in between reads the new values.
    guard let keys = keys() else { return [] }
    let new = stack
    func value(_ key: ByteText, _ stack: [Layer]) throws(KeepsakeError) -> StoredValue? {
      switch try lookUp(key, in: stack) {
      case .success(let value): value?.value
      // Readers of the value report the failure.
      case .failure: nil
      }
    }
    return try device.survey {
      var all = Set(keys)
      for layer in new { all.formUnion(try layer.values(on: device).keys) }
      return try all.sorted().compactMap { key in
        guard (old + new).contains(where: { $0.provided?[key] != nil }) else { return nil }
        let (before, after) = (try value(key, old), try value(key, new))
        return before == after ? nil : LayerChange(key, from: before, to: after)
      }
    }
  }
}
