// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

enum MergedStores {
  /// The stores that a merge of these is about.
  ///
  /// - Parameter stores: exactly these; nil for all that are synced.
  static func of(
    _ parties: [any Party], only stores: [String]?
  ) throws(KeepsakeError) -> [ByteText] {
    var names = Set((stores ?? [StoreName.cloud]).map(ByteText.init))
    if stores == nil {
      for party in parties { names.formUnion(try party.syncedStores()) }
    }
    return names.sorted()
  }
}

extension Connection {
  /// The synced stores of which the device knows anything.
  func syncedStores() throws -> Set<ByteText> {
    // Held entries may be applied, and sent on, in the very merge that lists them. A grave is as
    // much of a deletion as a tombstone: whoever reads it has seen the deletion, and those who read
    // that device have, though it holds nothing of the store.
    let names = try ["entry", "held", "seen", "grave"].flatMap { try stores(in: $0) }
    return Set(names.filter(StoreName.isSynced).map(ByteText.init))
  }
}
