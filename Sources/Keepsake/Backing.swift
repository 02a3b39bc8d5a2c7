// SPDX-License-Identifier: Apache-2.0
//
// Where the settings of one store come from and go to. The layers, first hit wins:
// the store's own entry, then the seed of a Settings bundle; a property adds its default.

import KeepsakeDevice
import KeepsakeValues
import Logging

final class Backing: Sendable {
  let device: Device
  let store: String
  let failures: FailureLog
  /// Seeds as they were when the store was opened.
  private let seeds: [ByteText: StoredValue]

  init(device: Device, store: String, logger: Logger) throws(KeepsakeError) {
    self.device = device
    self.store = store
    failures = FailureLog(logger: logger)
    try device.promoteDueEntries()
    let defaults = try device.defaults(store: store)
    seeds = Dictionary(
      defaults.map { (ByteText($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
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

  func report(
    _ operation: SettingFailure.Operation, _ key: String, _ error: any Error,
    content: StoredValue? = nil
  ) {
    failures.report(
      SettingFailure(store: store, key: key, operation: operation, cause: error), content: content)
  }
}
