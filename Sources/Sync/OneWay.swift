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
    try rotateCopies(meetings, among: [last], &report, using: &generator)
    try promote(last, of: devices, options, &report)
    for var meeting in meetings {
      report.expect(from: meeting.left, into: last)
      var result = Pull.Result(changeLimit: options.changeLimit - report.changes.count)
      defer { report.add(result, from: meeting.left, into: last) }
      try meeting.pull(
        into: last, at: devices[last].clock.milliseconds, options: options, offer: nil,
        trusted: try meeting.doubtful(meeting.look()).isEmpty, &result)
    }
    report.waiting = try waiting(devices, options)
    report.hasConverged = try nothingIsHeld(devices)
    for device in devices.dropLast() where report.hasConverged {
      report.hasConverged = try !Difference.exists(device, devices[last], stores: stores)
    }
  }
}
