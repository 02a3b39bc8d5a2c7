// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// The state of a store, of its file and of its layers in memory, in which a value was read. Does
/// not retain the device.
package struct StoreState: Equatable, Sendable {
  private let file: ReadVersions
  /// The keys that this process has changed in the file.
  private let trail: CommitTrail
  private let version: ReadVersion

  /// - Returns: nil where the present state is unknown.
  init?(_ device: Device) { self.init(device.core.versions, device.core.shared.trail) }

  private init?(_ file: ReadVersions, _ trail: CommitTrail) {
    guard let version = file.now else { return nil }
    (self.file, self.trail, self.version) = (file, trail, version)
  }

  /// Whether nothing has changed since: a commit, a layer in memory, the file.
  var isCurrent: Bool { file.isNow(version) }

  /// The present state, and the keys that commits have changed since this one.
  ///
  /// - Returns: nil where it is not known what has changed.
  func successor() -> (state: StoreState, changed: [ByteText])? {
    // A commit of this process is seen before it is on the trail.
    for _ in 0..<200 {
      guard let now = StoreState(file, trail) else { return nil }
      if now.version == version { return (now, []) }
      if let changed = trail.keys(from: version, to: now.version) { return (now, changed) }
      guard file.isWriting else { return nil }
    }
    return nil
  }

  package static func == (a: StoreState, b: StoreState) -> Bool {
    a.file === b.file && a.version == b.version
  }
}
