// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues
import Synchronization

// Everything is checked before anything is written.
extension MergeRun {
  /// Reads every page and every size of files that sync for the first time, and where it is asked
  /// for. Of other files the rows are checked that are read (`RowCheck`).
  mutating func check() throws(KeepsakeError) {
    var places: Set<Int> = []
    let center = options.isOneWay ? devices.count - 1 : 0
    for other in devices.indices where other != center {
      guard options.checksIntegrity || areStrangers(center, other) else { continue }
      places.formUnion([center, other])
    }
    let sorted = places.sorted()
    try Concurrently.each(sorted, if: areLarge(sorted)) {
      [devices] place throws(KeepsakeError) in
      try devices[place].checkWhole()
    }
    checked = places
  }

  /// Whether neither of two files has read anything of the other.
  private func areStrangers(_ a: Int, _ b: Int) -> Bool {
    for (reader, giver) in [(a, b), (b, a)] {
      if sides[reader].peers[sides[giver].id] != nil { return false }
    }
    return true
  }

  /// Whether it takes longer to read these files than to begin threads.
  private func areLarge(_ places: [Int]) throws(KeepsakeError) -> Bool {
    for place in places {
      let size = try FileStatus(of: devices[place].core.location.realPath)?.size ?? 0
      if size < 1 << 20 { return false }
    }
    return true
  }

  /// A device that is locked, or cannot be written, is found before any is written.
  func refuseUnwritable(_ places: some Sequence<Int>) throws(KeepsakeError) {
    for place in places { try devices[place].core.write { _ in ((), []) } }
  }
}
