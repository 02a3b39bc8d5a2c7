// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Device {
  /// What opening a store does about time: revokes late timestamps of its own, and applies held
  /// entries that are due.
  func settleTime(telling failures: FailureLog) throws(KeepsakeError) {
    if let repair = try repairClock(as: .random()) {
      failures.warn(
        "\(path): its clock had run ahead by \(repair.ahead / 1000) s; "
          + counted(repair.restamped, "entry", plural: "entries")
          + " now counts as written today, and the device has a new identity")
    }
    try promoteDueEntries()
  }
}
