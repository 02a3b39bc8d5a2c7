// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

// What a merge reports of devices beside its changes.
extension MergeRun {
  /// What the devices hold back now.
  func waiting() throws(KeepsakeError) -> [MergeReport.Waiting] {
    var all: [MergeReport.Waiting] = []
    for (place, device) in devices.enumerated() {
      let limit = options.changeLimit - all.count
      all += try device.core.access { connection in
        try connection.all(
          "SELECT store, key, hlc FROM held ORDER BY hlc, store, key LIMIT ?1",
          [.integer(Int64(limit))]
        ) { row in
          let timestamp = HybridTimestamp(rawValue: row.integer(2))
          return MergeReport.Waiting(
            into: place, store: row.text(0), key: row.text(1),
            until: Date(milliseconds: max(0, timestamp.milliseconds - options.clockSkew)))
        }
      }
    }
    return all
  }

  func nothingIsHeld() throws(KeepsakeError) -> Bool {
    for party in parties {
      let holdsAny = try party.holdsAny()
      if holdsAny { return false }
    }
    return true
  }

  static func droppedConflicts(_ devices: [Device]) throws(KeepsakeError) -> [Int64] {
    var counts: [Int64] = []
    for device in devices { counts.append(try device.droppedConflicts()) }
    return counts
  }

  /// Adds how many conflicts the devices no longer have.
  mutating func reportDropped(since before: [Int64]) {
    // A file that cannot be read any more has failed the merge already.
    let counts = Result { () throws(KeepsakeError) in try Self.droppedConflicts(devices) }
    guard case .success(let after) = counts else { return }
    for (place, (before, after)) in zip(before, after).enumerated() where before < after {
      report.events.append(.conflictsDropped(device: place, count: Int(after - before)))
    }
  }
}
