// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Device {
  /// Gives this device a new identity, because another file has the same past.
  func rotate(to id: ReplicaID) throws(KeepsakeError) {
    try core.write { connection in
      var replica = try ReplicaState(connection)
      try connection.rotate(&replica, to: id)
      return ((), [])
    }
  }
}
