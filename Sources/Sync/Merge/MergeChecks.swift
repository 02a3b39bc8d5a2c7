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
    let center = options.isOneWay ? sides.count - 1 : 0
    let strangers = sides.indices.filter { $0 != center && areStrangers(center, $0) }
    if strangers.isEmpty { return }
    let devices = ([center] + strangers).sorted().map { sides[$0].device }
    // Rows that do not leave their file may be of any size.
    let measured = options.stores == nil ? Connection.isSynced("e.store") : "true"
    let failures = Mutex<[Int: KeepsakeError]>([:])
    DispatchQueue.concurrentPerform(iterations: devices.count) { place in
      do throws(KeepsakeError) {
        try devices[place].checkPages()
        try devices[place].checkSizes(where: measured)
      } catch {
        failures.withLock { $0[place] = error }
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
    for place in places {
      try sides[place].device.tables.write { (try $0.refuseExhausted(), []) }
    }
  }
}
