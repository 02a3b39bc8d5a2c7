// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice

/// What a value is read from: a file, and the layers in memory, as they were.
struct StoreState: Equatable, Sendable {
  let versions: ReadVersions
  private let version: ReadVersion

  /// - Returns: nil where the present state is unknown.
  init?(_ versions: ReadVersions) {
    guard let version = versions.now else { return nil }
    (self.versions, self.version) = (versions, version)
  }

  /// Whether nothing has changed since: a commit, a layer in memory, the file.
  var isCurrent: Bool { versions.isNow(version) }

  static func == (a: StoreState, b: StoreState) -> Bool {
    a.versions === b.versions && a.version == b.version
  }
}
