// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// What was read at a place of a store is compared with this. It does not retain the device, whose
/// file is closed when the store has left it.
final class PlaceVersions: Sendable {
  let file: ReadVersions
  /// What this process has changed in the file.
  let trail: CommitTrail
  private let wasLeft = Atomic<Bool>(false)

  init(_ device: Device) { (file, trail) = (device.core.versions, device.core.shared.trail) }

  /// Whether the store is there. A thread that has found a later place never finds that it is.
  var isPresent: Bool { !wasLeft.load(ordering: .relaxed) }

  /// Before the next place is published, with a lock.
  func leave() { wasLeft.store(true, ordering: .relaxed) }
}

/// What a value is read from: the place of a store, its file, and the layers in memory, as they
/// were.
package struct StoreState: Equatable, Sendable {
  private let place: PlaceVersions
  /// The place's, at hand for readers.
  private let file: ReadVersions
  private let version: ReadVersion

  /// - Returns: nil where the present state is unknown.
  init?(_ place: PlaceVersions) {
    guard let version = place.file.now else { return nil }
    (self.place, file, self.version) = (place, place.file, version)
  }

  /// Whether nothing has changed since: a commit, a layer in memory, the file, the place.
  var isCurrent: Bool { file.isNow(version) && place.isPresent }

  /// The present state, and the keys that commits have changed since this one.
  ///
  /// - Returns: nil where it is not known what has changed.
  func successor() -> (state: StoreState, changed: [ByteText])? {
    // A commit of this process is seen before it is on the trail.
    for _ in 0..<200 {
      guard place.isPresent, let now = StoreState(place) else { return nil }
      if now.version == version { return (now, []) }
      if let changed = place.trail.keys(from: version, to: now.version) { return (now, changed) }
      guard file.isWriting else { return nil }
    }
    return nil
  }

  package static func == (a: StoreState, b: StoreState) -> Bool {
    a.place === b.place && a.version == b.version
  }
}
