// SPDX-License-Identifier: Apache-2.0
//
// Only the last device is written; the others may be on read-only media. They cannot be told that
// they were read, so nothing is remembered of it: the next one-way merge reads on where the last
// meeting both ways ended, and what it reads again changes nothing.

import KeepsakeDevice
import KeepsakeValues

extension Merge {
  static func oneWay(
    _ devices: [Device], _ stores: [ByteText], _ options: MergeOptions,
    _ report: inout MergeReport, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    let last = devices.count - 1
    let meetings = (0..<last).map { Meeting(devices, $0, last, stores: stores) }
    try check(meetings, options)
    // Whether the receiver can be written is found before it is.
    try devices[last].core.write { _ in ((), []) }
    try shareVoids(devices, among: [last], options, &report, using: &generator)
    for var meeting in meetings {
      let sharesIdentity = try devices[meeting.left].replica() == devices[last].replica()
      let isDoubtful = try meeting.examine().contains(last)
      if sharesIdentity || isDoubtful {
        try devices[last].rotate(to: .random(using: &generator))
        report.events.append(.cloneDetected(device: last))
      }
      if meeting.left == 0 { try promote(last, of: devices, options, &report) }
      report.transfers.append(MergeReport.Transfer(from: meeting.left, into: last))
      let result = try meeting.pull(
        into: last, at: devices[last].clock.milliseconds, options: options,
        changeLimit: options.changeLimit - report.changes.count, offer: nil,
        trusted: try meeting.examine().isEmpty)
      report.add(result, from: meeting.left, into: last)
    }
    report.waiting = try waiting(devices, options)
    report.hasConverged = try nothingIsHeld(devices)
    for device in devices.dropLast() where report.hasConverged {
      report.hasConverged = try !Difference.exists(device, devices[last], stores: stores)
    }
  }
}
