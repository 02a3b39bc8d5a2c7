// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// The version of a store, of its file and of its layers in memory, in which a value was read. Does
/// not retain the device.
package struct StoreVersion: Equatable, Sendable {
  private let file: ReadVersions
  /// The keys that this process has changed in the file.
  private let trail: CommitTrail
  private let version: ReadVersion

  /// - Returns: nil if the present version is unknown.
  init?(_ device: Device) { self.init(device.versions, device.shared.trail) }

  private init?(_ file: ReadVersions, _ trail: CommitTrail) {
    guard let version = file.now else { return nil }
    (self.file, self.trail, self.version) = (file, trail, version)
  }

  /// Whether nothing has changed since: no commit, no layer in memory, and the file is the same.
  var isCurrent: Bool { file.isNow(version) }

  /// The present version, and the keys that commits have changed since this one.
  ///
  /// - Returns: nil if it is not known what has changed.
  func changesSince() -> (now: StoreVersion, keys: [ByteText])? {
    // Readers see a commit of this process before it is on the trail.
    for _ in 0..<200 {
      guard let now = StoreVersion(file, trail) else { return nil }
      if now.version == version { return (now, []) }
      if let keys = trail.keys(from: version, to: now.version) { return (now, keys) }
      guard file.isWriting else { return nil }
    }
    return nil
  }

  package static func == (a: StoreVersion, b: StoreVersion) -> Bool {
    a.file === b.file && a.version == b.version
  }
}
