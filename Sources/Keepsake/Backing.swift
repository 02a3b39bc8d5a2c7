// SPDX-License-Identifier: Apache-2.0
//
// Where the settings of one store come from and go to: they are read through the layers
// (`Layers.swift`) and written as entries of the store.

import KeepsakeDevice
import KeepsakeSettingsBundle
import KeepsakeValues
import Logging
import Synchronization

final class Backing: Sendable {
  let device: Device
  let store: String
  let failures: FailureLog
  /// Of every write to this store.
  let durability: Durability
  /// The device's.
  private let moments: Moments
  let layers: Layers

  /// What was read since the present state began.
  private struct Cache {
    var state: State?
    var values: [ByteText: StoredValue?] = [:]

    /// - Parameter state: from before the value was read: so it may be newer, and never older.
    mutating func keep(_ value: StoredValue?, of key: ByteText, as state: State) {
      // Whoever asks for ever new keys must not fill the memory.
      if self.state != state || values.count >= 200_000 { values = [:] }
      self.state = state
      values[key] = .some(value)
    }
  }

  private let cache = Mutex(Cache())

  /// - Parameter bundle: wins over what the file knows of other bundles.
  init(
    device: Device, store: String, arguments: LaunchArguments, registered: RegisteredDefaults?,
    bundle: SettingsBundle?, durability: Durability, logger: Logger
  ) throws(KeepsakeError) {
    self.device = device
    moments = device.core.moments
    self.store = store
    self.durability = durability
    failures = FailureLog(logger: logger)
    try device.promoteDueEntries()
    // A device that is only read keeps no seeds, and is no worse for it.
    if let bundle, !device.isReadOnly { try device.seed(store: store, from: bundle) }
    layers = try Layers(
      device: device, store: store, arguments: arguments, registered: registered, bundle: bundle)
    device.backUpDaily { [failures] error in
      failures.report(
        SettingFailure(
          store: store, key: "", operation: .backup, storedType: nil, argument: nil, cause: error))
    }
  }

  /// What a value is read from. It is the same as long as none of the layers has changed.
  struct State: Equatable, Sendable {
    let moment: Moment
    let layers: Int
  }

  /// The present state; nil where it cannot be told, and everything has to be read.
  var state: State? {
    moments.now.map { State(moment: $0, layers: layers.version) }
  }

  /// The value of the first layer that has one.
  func value(_ key: String) throws(KeepsakeError) -> StoredValue? {
    let key = ByteText(key)
    guard let state else { return try layers.value(key) }
    if let known = cache.withLock({ $0.state == state ? $0.values[key] : nil }) { return known }
    let value = try layers.value(key)
    cache.withLock { $0.keep(value, of: key, as: state) }
    return value
  }

  /// Where the value of a key comes from.
  func explanation(_ key: String) throws(KeepsakeError) -> Explanation {
    Explanation(store: store, key: key, layers: try layers.explanation(ByteText(key)))
  }

  func set(_ value: StoredValue?, _ key: String) throws(KeepsakeError) {
    try device.write(
      [LocalWrite(store: store, key: key, value: value)], durability: durability)
  }
}

// MARK: - Failures

extension Backing {
  /// - Parameters:
  ///   - storedType: of a value that was found and could not be read.
  ///   - argument: the position of the launch argument that it is.
  func failure(
    _ operation: SettingFailure.Operation, _ cause: any Error, key: String = "",
    storedType: StoredValue.Kind? = nil, argument: Int? = nil
  ) -> SettingFailure {
    SettingFailure(
      store: store, key: key, operation: operation, storedType: storedType, argument: argument,
      cause: cause)
  }

  /// Reports a getter's failure, once for each version of the value.
  func reportRead(_ key: String, _ error: any Error) {
    report(.read, error, key: key, version: version(key) ?? .unknown(state, cause: "\(error)"))
  }

  func reportWrite(_ key: String, _ error: any Error) {
    report(.write, error, key: key)
  }

  /// Reports that the store as a whole could not be read, once for each state of the file.
  func reportReadAll(_ error: any Error) {
    report(.readAll, error, version: .unknown(state, cause: "\(error)"))
  }

  /// Reports what failed; without a version each time.
  func report(
    _ operation: SettingFailure.Operation, _ error: any Error, key: String = "",
    version: FailureLog.Version? = nil
  ) {
    let failure = error as? SettingFailure ?? failure(operation, error, key: key)
    failures.report(failure, version: version)
  }

  private func version(_ key: String) -> FailureLog.Version? {
    switch Result(catching: { try explanation(key) }) {
    case .success(let explanation): explanation.inForce.map { .layer($0) }
    case .failure: nil
    }
  }
}
