// SPDX-License-Identifier: Apache-2.0
//
// The whole merge rule. It stands once here and once in SQL (`EntryTable.swift`); a property test
// proves that the two agree.
//
// `a` beats `b` iff `(hlc, origin, tag, value)` of `a` is larger. That is a total order on content,
// so merging is commutative, associative and idempotent, even when two copies of one file minted
// the same stamp under the same origin.

/// What a device knows about one key: the last write, and who made it.
package struct Entry: Sendable, Hashable {
  package var address: Address
  package var content: TaggedCell
  package var stamp: HybridTimestamp
  package var origin: ReplicaID

  package init(
    _ address: Address, _ content: TaggedCell, stamp: HybridTimestamp, origin: ReplicaID
  ) {
    self.address = address
    self.content = content
    self.stamp = stamp
    self.origin = origin
  }

  /// Whether this entry wins over another of the same key.
  package func beats(_ other: Entry) -> Bool {
    if stamp != other.stamp { return stamp > other.stamp }
    if origin != other.origin { return origin > other.origin }
    if content.tag != other.content.tag { return content.tag > other.content.tag }
    return content.cell > other.content.cell
  }
}

/// Where an entry lives: a store and a key, compared by their bytes.
package struct Address: Sendable, Hashable, Comparable {
  package let store: ByteText
  package let key: ByteText

  package init(store: String, key: String) {
    self.store = ByteText(store)
    self.key = ByteText(key)
  }

  package static func < (a: Address, b: Address) -> Bool {
    a.store != b.store ? a.store < b.store : a.key < b.key
  }
}

/// Names of stores.
package enum StoreName {
  package static let cloud = "cloud"
  package static let defaults = "defaults"

  /// Whether entries of this store travel to other devices: `cloud` and `cloud:<name>` do.
  package static func isSynced(_ name: String) -> Bool {
    name.utf8.elementsEqual(cloud.utf8) || name.utf8.starts(with: "cloud:".utf8)
  }
}
