// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeValues

/// The arguments that name one setting of a device.
struct SettingArguments: ParsableArguments {
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The key.") var key: String
  @Option(help: "The store; cloud and cloud:<name> are synced, others stay on the device.")
  var store = StoreName.cloud

  /// Checks the names before any file is touched.
  func check() throws {
    try checkStore(store, of: file)
    guard !key.isEmpty else {
      throw InputError.usage("\(file): the key is empty; use a key of at least one character")
    }
  }

  func entry(on device: Device) throws -> Entry? { try device.entry(store: store, key: key) }

  /// The other stores in which the key has a value.
  func otherStores(on device: Device) throws -> [String] {
    try device.storesWithValue(key: key).filter { !$0.isSameBytes(as: store) }
  }
}
