// SPDX-License-Identifier: Apache-2.0
//
// Only the last device is written; the others may be on read-only media. They keep no memory
// of being read: the next one-way merge reads on where the last merge both ways ended, and what it
// reads again changes nothing.

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  mutating func oneWay() throws(KeepsakeError) {
    let last = devices.count - 1
    exchanges = (0..<last).map { Exchange(parties, $0, last, stores: stores) }
    try check()
    // Whether the receiver can be written is found before it is.
    try devices[last].core.write { _ in ((), []) }
    try shareRevocations(among: [last])
    try rotateCopies(among: [last])
    try promote(last)
    for index in exchanges.indices {
      let from = exchanges[index].left
      report.expect(from: from, into: last)
      var result = Pull.Result(changeLimit: options.changeLimit - report.changes.count)
      defer { report.add(result, from: from, into: last) }
      try exchanges[index].pull(
        into: last, options: options, offer: nil,
        trusted: try exchanges[index].doubtful(exchanges[index].snapshot()).isEmpty, &result)
    }
    report.waiting = try waiting()
    report.hasConverged = try nothingIsHeld()
    for device in devices.dropLast() where report.hasConverged {
      report.hasConverged = try !Difference.exists(device, devices[last], stores: stores)
    }
  }
}
