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
        // Held entries may be applied, and sent on, in this very merge.
        let held = try device.core.access { connection in
          try connection.all("SELECT DISTINCT store FROM held") { $0.text(0) }
        }
        let all = try device.stores() + held
        names.formUnion(all.filter(StoreName.isSynced).map(ByteText.init))
      }
    }
    return names.sorted()
  }
}
