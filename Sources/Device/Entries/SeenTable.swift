// SPDX-License-Identifier: Apache-2.0
//
// The version vectors of a file, which decide what is a conflict: see `decide`.

package import KeepsakeValues

extension Connection {
  private static let seenTime = FrequentStatement(
    "SELECT timestamp FROM main.seen WHERE store = ?1 AND replica_id = ?2")

  /// The time up to which the writes of a replica ID were read here, or lost to what was read.
  func seen(_ store: ByteText, _ id: ReplicaID) throws -> HybridTimestamp? {
    var time: HybridTimestamp?
    try run(Self.seenTime) {
      try $0.bind(store.string, at: 1)
      try $0.bind(id.rawValue, at: 2)
    } row: { row in
      time = HybridTimestamp(rawValue: row.integer(0))
      return false
    }
    return time
  }

  /// Notes that the writes of a replica ID up to a time were read, or lost to what was read.
  ///
  /// - Returns: whether none of them had been.
  @discardableResult
  package func raiseSeen(
    _ store: ByteText, _ id: ReplicaID, to timestamp: HybridTimestamp
  ) throws -> Bool {
    let old = try seen(store, id)
    guard timestamp > max(old ?? .zero, .zero) else { return false }
    try run(
      "INSERT OR REPLACE INTO main.seen (store, replica_id, timestamp) VALUES (?1, ?2, ?3)",
      [.text(store.string), .integer(id.rawValue), .integer(timestamp.rawValue)])
    return old == nil
  }
}
