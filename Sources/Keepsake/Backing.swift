// SPDX-License-Identifier: Apache-2.0
//
// Where the settings of one store come from and go to. The layers, first hit wins:
// the store's own entry, then the seed of a Settings bundle; a property adds its default.

import KeepsakeDevice
import KeepsakeSettingsBundle
import KeepsakeValues
import Logging

final class Backing: Sendable {
  let device: Device
  let store: String
  let failures: FailureLog
  /// Seeds as they were when the store was opened.
  private let seeds: [ByteText: StoredValue]

  /// - Parameter bundle: wins over what the file knows of other bundles.
  init(
    device: Device, store: String, bundle: SettingsBundle?, logger: Logger
  ) throws(KeepsakeError) {
    self.device = device
    self.store = store
    failures = FailureLog(logger: logger)
    try device.promoteDueEntries()
    // A device that is only read keeps no seeds, and is no worse for it.
    if let bundle, !device.isReadOnly { try device.seed(store: store, from: bundle) }
    let own = bundle?.seeds.map { (ByteText($0.key), $0.value) } ?? []
    let others = try device.defaults(store: store).map { (ByteText($0.key), $0.value) }
    seeds = Dictionary(own + others, uniquingKeysWith: { first, _ in first })
  }

  /// The value of the first layer that has one.
  func value(_ key: String) throws(KeepsakeError) -> StoredValue? {
    try stored(key) ?? seeds[ByteText(key)]
  }

  /// The value that was set here or learned from another device.
  func stored(_ key: String) throws(KeepsakeError) -> StoredValue? {
    try device.entry(store: store, key: key)?.content.value
  }

  func set(_ value: StoredValue?, _ key: String) throws(KeepsakeError) {
    try device.write([LocalWrite(store: store, key: key, value: value)])
  }

  /// Replaces the value by what `body` makes of it; `body` sees the layers, the write is this
  /// store's.
  func update(_ key: String, _ body: (StoredValue?) throws -> StoredValue?) throws {
    try device.update(store: store, key: key) { try body($0 ?? seeds[ByteText(key)]) }
  }

  /// Reports a getter's failure, once for each version of the value.
  func reportRead(_ key: String, _ error: any Error) {
    let failure = SettingFailure(store: store, key: key, operation: .read, cause: error)
    failures.report(failure, version: version(key))
  }

  func reportWrite(_ key: String, _ error: any Error) {
    failures.report(SettingFailure(store: store, key: key, operation: .write, cause: error))
  }

  private func version(_ key: String) -> FailureLog.Version? {
    switch Result(catching: { try device.entry(store: store, key: key) }) {
    case .success(let entry?): .entry(entry.stamp)
    case .success(nil): seeds[ByteText(key)].map { .seed($0) }
    // What cannot even be looked up has no version; it is reported each time.
    case .failure: nil
    }
  }
}
