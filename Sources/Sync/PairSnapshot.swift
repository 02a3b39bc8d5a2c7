// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// Two devices as they are before they exchange entries, and what that says of them.
package struct PairSnapshot {
  /// One side of an exchange as it is now.
  package struct Side {
    let replica: ReplicaID
    /// The last local sequence number that it has given.
    let lseq: Int64
    /// The local sequence number up to which this side has forgotten deletions.
    let forgotten: Int64
    /// What this side remembers of the other, in the order of `stores`.
    package let memory: [PeerState]

    init(replica: ReplicaID, lseq: Int64, forgotten: Int64, memory: [PeerState]) {
      (self.replica, self.lseq, self.forgotten) = (replica, lseq, forgotten)
      self.memory = memory
    }

    /// - Parameter schema: of the connection: the device itself, or the one that is attached.
    init(
      _ connection: Connection, in schema: String = "main", of peer: ReplicaID, _ stores: [ByteText]
    ) throws {
      (replica, lseq) =
        try connection.first(
          """
          SELECT id, max(lseq, ifnull((SELECT max(lseq) FROM \(schema).entry), 0))
          FROM \(schema).replica
          """
        ) { (ReplicaID(rawValue: $0.integer(0)), $0.integer(1)) } ?? (ReplicaID(rawValue: 0), 0)
      forgotten =
        try connection.first("SELECT lseq FROM \(schema).forgotten") { $0.integer(0) } ?? 0
      memory = try stores.map { try connection.peers.state(of: peer, store: $0, in: schema) }
    }
  }

  let left: Side
  let right: Side

  /// Whether there is a store that either has never read of the other.
  var isFirst: Bool { (left.memory + right.memory).contains { $0.readToken == nil } }

  /// Whether either has never read anything of the other.
  var areStrangers: Bool {
    [left, right].contains { $0.memory.allSatisfy { $0.readToken == nil } }
  }

  /// Whether both have read all there is of each other.
  var isUpToDate: Bool {
    zip(left.memory, right.memory).allSatisfy { mine, theirs in
      mine.cursor == right.lseq && theirs.cursor == left.lseq
    }
  }

  /// Whether either comes back after so long that it has missed deletions that the other has
  /// forgotten.
  var hasMissed: Bool {
    left.memory.contains { $0.cursor < right.forgotten }
      || right.memory.contains { $0.cursor < left.forgotten }
  }

  /// Which devices need a new identity before the two may meet.
  struct Doubt: OptionSet {
    let rawValue: Int
    static let left = Doubt(rawValue: 1)
    static let right = Doubt(rawValue: 2)
  }

  /// Of two that have one identity, the second.
  var doubt: Doubt {
    if left.replica == right.replica { return .right }
    var doubt: Doubt = []
    func add(_ found: PeerState.Doubt, sender: Doubt, reader: Doubt) {
      if found.contains(.sender) { doubt.formUnion(sender) }
      if found.contains(.reader) { doubt.formUnion(reader) }
    }
    for (mine, theirs) in zip(left.memory, right.memory) {
      add(mine.doubt(reader: theirs, lseq: left.lseq), sender: .left, reader: .right)
      add(theirs.doubt(reader: mine, lseq: right.lseq), sender: .right, reader: .left)
    }
    return doubt
  }

  /// The same where the right one is a hub. A hub that does not know under which token the device
  /// has read was restored: it goes on as another one, and then neither knows anything of the
  /// other. A device that does not know under which token the hub has read is a copy: the hub has
  /// one state for all.
  var doubtWithHub: Doubt {
    var doubt: Doubt = []
    for (mine, hubs) in zip(left.memory, right.memory) {
      let found = hubs.doubt(reader: mine, lseq: right.lseq)
      if found.contains(.sender) { return .right }
      if !found.isEmpty || !mine.doubt(reader: hubs, lseq: left.lseq).isEmpty {
        doubt.insert(.left)
      }
    }
    return doubt
  }
}
