// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

extension Device {
  /// Gives this device a new identity, as a merge does that finds another file with the same past.
  func rotate(to id: ReplicaID) throws {
    try core.write { connection in
      var replica = try ReplicaState(connection)
      try connection.rotate(&replica, to: id)
      return ((), [])
    }
  }
}
