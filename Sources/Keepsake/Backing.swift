// SPDX-License-Identifier: Apache-2.0
//
// Where the settings of one store come from and go to. The layers, first hit wins:
// the store's own entry, then what the process registered, then the seed of a Settings bundle; a
// property adds its default.

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
  /// What the process registered with the device; nil for a store that does not see it.
  private let registered: RegisteredDefaults?
  /// Seeds as they were when the store was opened.
  private let seeds: [ByteText: StoredValue]

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
    device: Device, store: String, registered: RegisteredDefaults?, bundle: SettingsBundle?,
    durability: Durability, logger: Logger
  ) throws(KeepsakeError) {
    self.device = device
    moments = device.core.moments
    self.store = store
    self.registered = registered
    self.durability = durability
    failures = FailureLog(logger: logger)
    try device.promoteDueEntries()
    // A device that is only read keeps no seeds, and is no worse for it.
    if let bundle, !device.isReadOnly { try device.seed(store: store, from: bundle) }
    let own = bundle?.seeds.map { (ByteText($0.key), $0.value) } ?? []
    let others = try device.defaults(store: store).map { (ByteText($0.key), $0.value) }
    seeds = Dictionary(own + others, uniquingKeysWith: { first, _ in first })
    device.backUpDaily { [failures] error in
      failures.report(
        SettingFailure(store: store, key: "", operation: .backup, storedType: nil, cause: error))
    }
  }

  /// What a value is read from. It is the same as long as none of the layers has changed.
  struct State: Equatable, Sendable {
    let moment: Moment
    let registrations: Int
  }

  /// The present state; nil where it cannot be told, and everything has to be read.
  var state: State? {
    moments.now.map { State(moment: $0, registrations: registered?.version ?? 0) }
  }

  /// The value of the first layer that has one.
  func value(_ key: String) throws(KeepsakeError) -> StoredValue? {
    guard let state else { return try stored(key) ?? fallback(key) }
    let key = ByteText(key)
    if let known = cache.withLock({ $0.state == state ? $0.values[key] : nil }) { return known }
    let value = try stored(key.string) ?? fallback(key.string)
    cache.withLock { $0.keep(value, of: key, as: state) }
    return value
  }

  /// The value that was set here or learned from another device.
  func stored(_ key: String) throws(KeepsakeError) -> StoredValue? {
    try device.entry(store: store, key: key)?.content.value
  }

  /// The value of the first layer below that of what was set.
  fileprivate func fallback(_ key: String) -> StoredValue? {
    registered?[ByteText(key)] ?? seeds[ByteText(key)]
  }

  /// Every key that has a value in some layer, with the value of the first such layer. What was set
  /// is read as it was at one moment.
  func values() throws(KeepsakeError) -> [ByteText: StoredValue] {
    var own: [ByteText: StoredValue] = [:]
    try device.forEachEntry(store: store) { own[$0.address.key] = $0.content.value }
    return [registered?.all ?? [:], seeds].reduce(own) { upper, lower in
      upper.merging(lower) { upper, _ in upper }
    }
  }

  /// - Parameter limit: how long to wait for other processes at most; nil for as long as the device
  ///   does.
  func set(
    _ value: StoredValue?, _ key: String, waiting limit: Duration? = nil
  ) throws(KeepsakeError) {
    try device.write(
      [LocalWrite(store: store, key: key, value: value)], durability: durability, waiting: limit)
  }

  func observe(
    _ keys: KeyFilter, _ handler: @escaping @Sendable ([Change]) -> Void
  ) -> Observation {
    device.observe(store: store, keys, handler) { [weak self] in self?.report(.observe, $0) }
  }
}

// MARK: - Failures

extension Backing {
  /// - Parameter storedType: of a value that was found and could not be read.
  func failure(
    _ operation: SettingFailure.Operation, _ cause: any Error, key: String = "",
    storedType: StoredValue.Kind? = nil
  ) -> SettingFailure {
    SettingFailure(
      store: store, key: key, operation: operation, storedType: storedType, cause: cause)
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
    switch Result(catching: { try device.entry(store: store, key: key) }) {
    case .success(let entry?): .entry(entry.stamp)
    case .success(nil): fallback(key).map { .fallback($0) }
    case .failure: nil
    }
  }
}
