// SPDX-License-Identifier: Apache-2.0
//
// The merge rule.
//
// `a` beats `b` iff `(timestamp, replica ID, type, value)` of `a` is larger. That is a total order
// on content, so merging is commutative, associative and idempotent, even when two copies of one
// file created the same timestamp under the same replica ID.

/// The latest write to one key that a device has.
package struct Entry: Sendable, Hashable {
  package var address: Address
  package var content: TaggedCell
  package var timestamp: HybridTimestamp
  package var replicaID: ReplicaID

  package init(
    _ address: Address, _ content: TaggedCell, timestamp: HybridTimestamp, replicaID: ReplicaID
  ) {
    self.address = address
    self.content = content
    self.timestamp = timestamp
    self.replicaID = replicaID
  }

  /// Whether this entry wins over another entry of the same key.
  package func beats(_ other: Entry) -> Bool {
    if timestamp != other.timestamp { return timestamp > other.timestamp }
    if replicaID != other.replicaID { return replicaID > other.replicaID }
    return content > other.content
  }
}

/// The store and the key of an entry, compared by their bytes.
package struct Address: Sendable, Hashable, Comparable {
  package let store: ByteText
  package let key: ByteText

  package init(store: String, key: String) {
    self.store = ByteText(store)
    self.key = ByteText(key)
  }

  /// The key of the address's row on a hub; unique for each address.
  package var hubKey: String {
    // By bytes: a slash with a combining mark is another Character.
    let store = store.string.utf8.flatMap { byte in
      switch byte {
      case UInt8(ascii: "%"): Array("%25".utf8)
      case UInt8(ascii: "/"): Array("%2F".utf8)
      default: [byte]
      }
    }
    return "\(String(decoding: store, as: UTF8.self))/\(key.string)"
  }

  package static func < (a: Address, b: Address) -> Bool {
    a.store != b.store ? a.store < b.store : a.key < b.key
  }
}

package enum StoreName {
  package static let cloud = "cloud"
  package static let defaults = "defaults"

  /// The store of the application's defaults, or of a suite.
  package static func defaults(suite name: String?) -> String {
    name.map { "\(defaults):\($0)" } ?? defaults
  }

  /// The default synced store, or the synced store of this name.
  package static func cloud(_ name: String?) -> String { name.map { "\(cloud):\($0)" } ?? cloud }

  /// Whether this store is synced: `cloud` and each `cloud:<name>` is.
  package static func isSynced(_ name: String) -> Bool {
    name.utf8.elementsEqual(cloud.utf8) || name.utf8.starts(with: "\(cloud):".utf8)
  }
}
