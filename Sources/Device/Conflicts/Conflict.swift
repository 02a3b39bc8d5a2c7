// SPDX-License-Identifier: Apache-2.0

public import Foundation
import KeepsakeStorage
public import KeepsakeValues

/// A write that lost to one made without knowledge of it. Its value is kept, whole.
public struct Conflict: Sendable, Hashable {
  /// Its number in the device's conflict log.
  package let id: Int64
  /// The store of the key.
  public let store: String
  /// The key that both wrote.
  public let key: String
  /// The columns of what was lost, see `lost`.
  package let loser: TaggedCell
  /// What was lost; nil is a deletion. An array or a dictionary is decoded at each access.
  public var lost: StoredValue? { loser.value }
  /// When the loser was written.
  public let lostTimestamp: HybridTimestamp
  /// The device that wrote the loser.
  public let lostReplicaID: ReplicaID
  /// Whether what won is a deletion.
  public let winnerIsDeletion: Bool
  /// When the winner was written.
  public let winnerTimestamp: HybridTimestamp
  /// The device that wrote the winner.
  public let winnerReplicaID: ReplicaID
  /// When it was found, by this device's clock.
  public let foundAt: Date
  /// Whether the loser was restored, or an application has resolved the conflict.
  public let isResolved: Bool
}

extension Conflict {
  init(_ row: Row) {
    self.init(
      id: row.integer(0), store: row.text(1), key: row.text(2), loser: row.content(3),
      lostTimestamp: HybridTimestamp(rawValue: row.integer(5)),
      lostReplicaID: ReplicaID(rawValue: row.integer(6)),
      winnerIsDeletion: row.integer(7) == TaggedCell.tombstone.tag,
      winnerTimestamp: HybridTimestamp(rawValue: row.integer(8)),
      winnerReplicaID: ReplicaID(rawValue: row.integer(9)),
      foundAt: Date(milliseconds: row.integer(10)),
      isResolved: row.integer(11) != 0)
  }
}

extension Connection {
  package var conflictLog: ConflictLog { ConflictLog(connection: self) }
}

extension Device {
  /// The log of what lost merges on this device, oldest first.
  ///
  /// Each device has its own, which keeps the last 10,000 conflicts, up to 64 MiB of lost values;
  /// `droppedConflicts` tells how many it no longer has. A conflict is in the log of the device
  /// that found it. Of two devices that merge that is mostly the one that reads first: the one
  /// whose `merge(with:)` was called.
  ///
  /// - Parameter store: only conflicts of this store; nil for all.
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func conflicts(store: String? = nil) throws(KeepsakeError) -> [Conflict] {
    try tables.access { try $0.conflictLog.conflicts(after: 0, store: store) }
  }

  /// One conflict; nil when the log has none of this number.
  package func conflict(id: Int64) throws(KeepsakeError) -> Conflict? {
    try tables.access { connection in
      try connection.conflictLog.conflicts(after: id &- 1, limit: 1).first { $0.id == id }
    }
  }

  /// How many of the oldest conflicts the log, which is bounded, no longer has.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func droppedConflicts() throws(KeepsakeError) -> Int64 {
    try tables.access { try $0.conflictLog.dropped() }
  }

  /// Writes what was lost back, as a new write of this device: it wins everywhere. The log keeps
  /// the conflict, as resolved.
  ///
  /// - Returns: whether the conflict was open.
  /// - Throws: `KeepsakeError`; then nothing was written.
  @discardableResult
  public func restore(_ conflict: Conflict) throws(KeepsakeError) -> Bool {
    try tables.write { connection in
      try write([LocalWrite(store: conflict.store, key: conflict.key, content: conflict.loser)])
      return (try connection.conflictLog.markResolved(conflict.id), [])
    }
  }

  /// Calls `resolve` for each open conflict of a store, the oldest first, each in a transaction of
  /// its own, which also marks it resolved. So of several processes one resolves it, once, and
  /// after a crash it is still open.
  ///
  /// - Parameter resolve: reads and writes the store as ever, or leaves the winner as it is.
  /// - Returns: how many were resolved.
  /// - Throws: what `resolve` throws, or `KeepsakeError`; that conflict stays open, with those
  ///   after it.
  package func resolveConflicts(
    store: String, _ resolve: (Conflict) throws -> Void
  ) throws -> Int {
    var count = 0
    for id in try tables.access({ try $0.conflictLog.open(store: store) }) {
      let isMine = try transaction {
        guard let conflict = try conflict(id: id),
          try tables.access({ try $0.conflictLog.markResolved(id) })
        else { return false }
        try resolve(conflict)
        return true
      }
      if isMine { count += 1 }
    }
    return count
  }
}
