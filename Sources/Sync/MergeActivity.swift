// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice

extension Merge {
  /// Reports how a merge ended to the observers of the devices' activities.
  static func reporting(
    _ devices: [Device], _ merge: () throws(KeepsakeError) -> MergeReport
  ) throws(KeepsakeError) -> MergeReport {
    guard devices.contains(where: \.activities.areHeard) else { return try merge() }
    let start = ContinuousClock.now
    func tell(_ report: MergeReport?, _ failure: KeepsakeError.Code? = nil) {
      let duration = start.duration(to: .now)
      for (place, device) in devices.enumerated() {
        let into = (report?.transfers ?? []).filter { $0.into == place }
        let tally = MergeTally(
          duration: duration, conflicts: into.reduce(0) { $0 + $1.conflicts },
          waiting: into.reduce(0) { $0 + $1.waiting }, failure: failure)
        device.activities.tell(.merged(tally))
      }
    }
    do throws(KeepsakeError) {
      let report = try merge()
      tell(report)
      return report
    } catch {
      tell(error.mergeReport, error.code)
      throw error
    }
  }
}
