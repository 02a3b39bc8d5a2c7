// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a store come from, first hit wins:
//
//   managed values → launch arguments → own entries → added suites, the last added first
//   → given defaults → registered ones → seeds, own ones first, then the suites'
//   → the default of a property, which the property itself has, and `Backing` for reads by key
//
// Reads of one key, of all keys and of explanations use the same layers in the same order. Writes
// change the own entries only, and are rejected for managed keys.
//
// Threading: a lock protects the suites and the moments of given layers; everything else is
// immutable or has a lock of its own. A change of the layers makes a new read version, which
// invalidates cached values.

import KeepsakeDevice
import KeepsakeSettingsBundle
import KeepsakeValues
import Synchronization

final class Layers: Sendable {
  /// The given layers; the first of one place wins.
  let given: [SettingsLayer]
  let arguments: LaunchArguments
  let device: Device
  private let store: String
  /// What the process registered with the device; nil for a store that does not see it.
  private let registered: RegisteredDefaults?
  /// The seeds as of opening the store; the first of one key wins.
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
    /// Of the given layers.
    var moments: [SettingsLayer.Moment] = []
    var stack: [Layer] = []
  }

  private let state = Mutex(State())

  /// The layers in the order in which they are read.
  var stack: [Layer] { state.withLock { $0.stack } }
  /// The moments of the given layers that are read.
  var moments: [SettingsLayer.Moment] { state.withLock { $0.moments } }

  /// - Parameters:
  ///   - given: the first of one place wins.
  ///   - bundle: wins over what the file knows of other bundles.
  init(
    device: Device, store: String, given: [SettingsLayer] = [], arguments: LaunchArguments,
    registered: RegisteredDefaults?, bundle: SettingsBundle?
  ) throws(KeepsakeError) {
    (self.device, self.store, self.given) = (device, store, given)
    (self.arguments, self.registered) = (arguments, registered)
    seeds = try Self.seeds(device, store, bundle)
    renew()
  }

  // MARK: - Reading

  /// The value of the first layer that has one.
  func value(_ key: ByteText) throws(KeepsakeError) -> StoredValue? {
    try read { (stack) throws(KeepsakeError) in try first(key, of: stack) }
  }

  /// The values of several keys, from one snapshot; a failure for a key that its layer cannot read.
  func values(_ keys: [ByteText]) throws(KeepsakeError) -> [Found] {
    try values(keys, of: stack)
  }

  /// The same without the launch arguments.
  func valuesWithoutArguments(_ keys: [String]) throws(KeepsakeError) -> [Found] {
    try values(keys.map(ByteText.init), of: stack.filter { !$0.isArguments })
  }

  private func values(
    _ keys: [ByteText], of stack: [Layer]
  ) throws(KeepsakeError) -> [Found] {
    try device.core.survey { _ in
      try keys.map { key in
        try Self.found { () throws(KeepsakeError) in try first(key, of: stack) }
      }
    }
  }

  func first(_ key: ByteText, of stack: [Layer]) throws(KeepsakeError) -> StoredValue? {
    for layer in stack {
      if let value = try layer.value(key, device) { return value }
    }
    return nil
  }

  /// Every key that has a value in some layer, with the value of the first such layer.
  ///
  /// - Parameter declared: keys that given layers may have too.
  func allValues(
    and declared: some Sequence<ByteText>
  ) throws(KeepsakeError) -> Values {
    try read(often: !given.isEmpty) { (stack) throws(KeepsakeError) in
      var all = Values()
      for layer in stack {
        all.values.merge(try layer.values(device).lazy.map { ($0.key, Readings($0.value)) }) {
          upper, _ in upper
        }
      }
      // The keys whose layer has readings besides the value.
      var keys = Set(arguments.arguments.keys)
      if !given.isEmpty {
        keys.formUnion(
          Set(declared).union(all.values.keys).filter { key in
            stack.contains { $0.given?[key] != nil }
          })
      }
      for key in keys {
        switch try Self.found({ () throws(KeepsakeError) in try inForce(key, of: stack) }) {
        case .success(let value): all.values[key] = value
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
  ) throws(KeepsakeError) -> [(explanation: SettingExplanation, inForce: Found)] {
    let stack = stack
    return try device.core.survey { connection in
      let replica = try ReplicaState(connection).id
      return try keys.map { name in
        let key = ByteText(name)
        let layers = try stack.flatMap { try $0.explanation(key, device, replica) }
        return (
          SettingExplanation(store: store, key: name, layers: layers),
          try Self.found { () throws(KeepsakeError) in try first(key, of: stack) }
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
    return hasSuites || often ? try device.core.survey { _ in try body(stack) } : try body(stack)
  }

  // MARK: - Suites

  /// Puts a suite right below the own entries, even if it was added before.
  func addSuite(_ name: String) throws {
    let suite = StoreName.defaults(suite: name)
    guard !suite.isSameBytes(as: store) else {
      throw SettingDeclarationError(
        description: "the suite \"\(name)\" is this store itself; add another")
    }
    let seeds = try Self.seeds(device, suite, nil)
    change { state in
      state.suites.removeAll { $0.store.isSameBytes(as: suite) }
      state.suites.insert(Suite(name: name, store: suite, seeds: seeds), at: 0)
    }
  }

  func removeSuite(_ name: String) {
    change { $0.suites.removeAll { $0.name.isSameBytes(as: name) } }
  }

  /// Reads the given layers' present values from now on.
  func renew() { change { $0.moments = given.map(\.moment) } }

  /// Changes the layers, and sorts them.
  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      let (suites, moments) = (state.suites, state.moments)
      func given(_ place: SettingsLayer.Place) -> [Layer] {
        moments.filter { $0.place == place }.map { .given($0) }
      }
      state.stack =
        given(.managed) + [.arguments(arguments), .entries(store: store, suite: nil)]
        + suites.map { .entries(store: $0.store, suite: $0.name) }
        + given(.defaults) + (registered.map { [.registered($0)] } ?? [])
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
