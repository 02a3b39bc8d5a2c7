// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

enum MergedStores {
  /// The stores that a merge of these devices is about.
  ///
  /// - Parameter stores: exactly these; nil for all that are synced.
  static func of(
    _ devices: [Device], only stores: [String]?
  ) throws(KeepsakeError) -> [ByteText] {
    var names = Set((stores ?? [StoreName.cloud]).map(ByteText.init))
    if stores == nil {
      for device in devices {
        let all = try device.core.access { connection in
          // Held entries may be applied, and sent on, in this very merge. A grave is as much of a
          // deletion as a tombstone: whoever reads it has seen the deletion.
          let hasGraves = try connection.hasTable("grave")
          return try connection.stores() + connection.stores(in: "held")
            + (hasGraves ? connection.stores(in: "grave") : [])
        }
        names.formUnion(all.filter(StoreName.isSynced).map(ByteText.init))
      }
    }
    return names.sorted()
  }
}
