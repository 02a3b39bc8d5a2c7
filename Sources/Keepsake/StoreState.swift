// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// What a value is read from: a file, and the layers in memory, as they were.
package struct StoreState: Equatable, Sendable {
  let versions: ReadVersions
  private let version: ReadVersion

  /// - Returns: nil where the present state is unknown.
  init?(_ versions: ReadVersions) {
    guard let version = versions.now else { return nil }
    (self.versions, self.version) = (versions, version)
  }

  /// Whether nothing has changed since: a commit, a layer in memory, the file.
  var isCurrent: Bool { versions.isNow(version) }

  /// The present state, and the keys that commits have changed since this one.
  ///
  /// - Parameter trail: of the file.
  /// - Returns: nil where it is not known what has changed.
  func successor(
    by trail: CommitTrail
  ) -> (state: StoreState, changed: [ByteText])? {
    // A commit of this process is seen before it is on the trail.
    for _ in 0..<200 {
      guard let now = StoreState(versions) else { return nil }
      if now.version == version { return (now, []) }
      if let changed = trail.keys(from: version, to: now.version) { return (now, changed) }
      guard versions.isWriting else { return nil }
    }
    return nil
  }

  package static func == (a: StoreState, b: StoreState) -> Bool {
    a.versions === b.versions && a.version == b.version
  }
}
