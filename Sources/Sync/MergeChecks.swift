// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues
import Synchronization

// Everything is checked before anything is written.
extension MergeRun {
  /// Reads every page and every size of files that sync for the first time. Of others the rows are
  /// checked that are read (`GiverPage`).
  func check() throws(KeepsakeError) {
    var places: Set<Int> = []
    let center = options.isOneWay ? devices.count - 1 : 0
    for other in devices.indices where other != center && areStrangers(center, other) {
      places.formUnion([center, other])
    }
    try check(places.sorted())
  }

  private func check(_ places: [Int]) throws(KeepsakeError) {
    // Rows that do not leave their file may be of any size.
    let measured = options.stores == nil ? Connection.isSynced("e.store") : "true"
    // Whether it takes longer to read these files than to begin threads.
    guard places.allSatisfy({ sides[$0].sequenceNumber > 10_000 }) else {
      for place in places { try devices[place].checkWhole(measuring: measured) }
      return
    }
    let failures = Mutex<[Int: KeepsakeError]>([:])
    DispatchQueue.concurrentPerform(iterations: places.count) { [devices] index in
      do throws(KeepsakeError) {
        try devices[places[index]].checkWhole(measuring: measured)
      } catch {
        failures.withLock { $0[index] = error }
      }
    }
    if let first = failures.withLock({ $0.min { $0.key < $1.key } }) { throw first.value }
  }

  /// Whether neither of two files has read anything of the other.
  private func areStrangers(_ a: Int, _ b: Int) -> Bool {
    sides[a].peers[sides[b].id] == nil && sides[b].peers[sides[a].id] == nil
  }

  /// A device that is locked, or cannot be written, is found before any is written.
  func refuseUnwritable(_ places: some Sequence<Int>) throws(KeepsakeError) {
    for place in places { try devices[place].core.write { _ in ((), []) } }
  }
}
