// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

enum Difference {
  /// Whether any entry, a tombstone included, is not the same in both devices. O(entries).
  static func exists(
    _ a: Device, _ b: Device, stores: [ByteText]
  ) throws(KeepsakeError) -> Bool {
    try b.core.withSender(a.core) { () throws(KeepsakeError) in
      try b.core.access { connection in
        try connection.want(stores, from: stores.map { _ in 0 })
        return try only(in: "sender", not: "main", connection)
          || only(in: "main", not: "sender", connection)
      }
    }
  }

  private static func only(
    in here: String, not there: String, _ connection: Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM \(here).entry AS a WHERE store IN (SELECT store FROM wanted)
      AND NOT EXISTS (SELECT 1 FROM \(there).entry AS b
        WHERE b.store = a.store AND b.key = a.key AND b.hlc = a.hlc AND b.origin = a.origin
          AND b.tag = a.tag AND b.value IS a.value)
      LIMIT 1
      """
    ) { _ in true } ?? false
  }
}
