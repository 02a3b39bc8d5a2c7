// SPDX-License-Identifier: Apache-2.0

package import Synchronization

extension Device {
  /// Whether the caller may not open a file. KeepsakeTesting sets it: in a container for a test the
  /// recipes of the application may not.
  package static let refusesFiles = Mutex<@Sendable () -> Bool> { false }

  static func refuseFile(_ path: String) throws(KeepsakeError) {
    let isRefused = refusesFiles.withLock { $0 }
    guard isRefused() else { return }
    throw KeepsakeError(
      .permissionDenied, path: path, "a recipe opens this file in a container for a test",
      cure: "take the registered Device from the container, as in `AppSettings(on: c.get())`")
  }
}
