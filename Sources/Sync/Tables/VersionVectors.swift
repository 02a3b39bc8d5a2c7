// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
package import KeepsakeValues

/// One version vector per store: the time up to which the writes of each replica ID were read, or
/// lost to something that was read.
package struct VersionVectors: Equatable, Sendable {
  /// Replica IDs that a file keeps per store. Those with the oldest times go: that may log a
  /// conflict that is none, and loses nothing, because cursors decide what is read.
  private static let capacity: Int64 = 4_096
  /// Bytes of the text that a hub gets: half of what it accepts, unless its operator changes that.
  private static let textLimit = 256 << 10
  /// Replica IDs that a hub's answer may have.
  private static let limit = 100_000

  package private(set) var times: [ByteText: [ReplicaID: HybridTimestamp]] = [:]

  package init() {}

  /// Reads the vectors of some stores, without the file's own writes; of too many replica IDs those
  /// with the latest times.
  init(_ connection: Connection, of stores: [ByteText]) throws {
    for store in stores {
      try connection.run(
        """
        SELECT replica_id, timestamp FROM main.seen WHERE store = ?1 AND replica_id > 0
        ORDER BY timestamp DESC, replica_id LIMIT ?2
        """, [.text(store.string), .integer(Self.capacity)]
      ) { row in
        raise(
          ReplicaID(rawValue: row.integer(0)), in: store,
          to: HybridTimestamp(rawValue: row.integer(1)))
        return true
      }
    }
  }

  package mutating func raise(_ id: ReplicaID, in store: ByteText, to time: HybridTimestamp) {
    if time > times[store]?[id] ?? .zero { times[store, default: [:]][id] = time }
  }

  /// Cuts later times.
  mutating func cut(to horizon: HybridTimestamp) {
    times = times.mapValues { $0.mapValues { min($0, horizon) } }
  }

  /// Drops the oldest times until the text is not too long for a hub.
  mutating func shorten() {
    let all = times.flatMap { store, vector in vector.map { (time: $1, id: $0, store: store) } }
      .sorted { ($1.time, $0.id, $0.store) < ($0.time, $1.id, $1.store) }
    var (kept, count) = (VersionVectors(), 2)
    for (time, id, store) in all {
      // "16 digits":"16 digits",
      count += 38
      if kept.times[store] == nil { count += JSON.string(store.string).text().utf8.count + 4 }
      guard count <= Self.textLimit else { break }
      kept.raise(id, in: store, to: time)
    }
    self = kept
  }

  /// Lowers the vector of a store so that it does not cover a write.
  mutating func lower(
    _ store: ByteText, _ id: ReplicaID, below timestamp: HybridTimestamp
  ) {
    guard let time = times[store]?[id], time >= timestamp else { return }
    let before = HybridTimestamp(rawValue: max(timestamp.rawValue, 1) - 1)
    times[store]?[id] = before > .zero ? before : nil
  }

  /// Lowers all vectors so that none covers writes of a replica ID after a time.
  mutating func lower(_ id: ReplicaID, to time: HybridTimestamp) {
    for (store, vector) in times { times[store]?[id] = vector[id].map { min($0, time) } }
  }

  /// Notes in a file that everything was read that these vectors cover. Its clock follows. Times
  /// are cut at the horizon.
  ///
  /// - Parameter hasNews: whether a row has come with them. The horizon moves all the time: what is
  ///   cut there counts only together with one.
  func note(
    _ connection: Connection, _ replica: inout ReplicaState, upTo horizon: HybridTimestamp,
    hasNews: Bool
  ) throws {
    let times = hasNews ? self.times : self.times.mapValues { $0.filter { $0.value <= horizon } }
    for (store, vector) in times {
      var isLonger = false
      for (id, time) in vector where id != replica.id {
        if try connection.raiseSeen(store, id, to: min(time, horizon)) { isLonger = true }
      }
      if isLonger { try Self.trim(store, in: connection) }
    }
    let newest = times.values.flatMap(\.values).max() ?? .zero
    replica.last = max(replica.last, min(newest, horizon))
  }

  private static func trim(_ store: ByteText, in connection: Connection) throws {
    try connection.run(
      """
      DELETE FROM main.seen WHERE store = ?1 AND replica_id IN (
        SELECT replica_id FROM main.seen WHERE store = ?1
        ORDER BY timestamp DESC, replica_id LIMIT -1 OFFSET ?2)
      """, [.text(store.string), .integer(capacity)])
  }
}

extension VersionVectors {
  /// `{store: {replica ID: timestamp}}`, both as 16 hexadecimal digits.
  package var json: JSON {
    .object(
      times.sorted { $0.key < $1.key }.map { store, vector in
        JSON.Member(
          store.string,
          .object(
            vector.sorted { $0.key < $1.key }.map { id, time in
              JSON.Member(id.description, .string(time.description))
            }))
      })
  }

  /// - Throws: `ValueError`.
  package init(_ json: JSON) throws(ValueError) {
    let malformed = ValueError(.invalid, "these are no version vectors")
    guard case .object(let stores) = json else { throw malformed }
    var count: Int64 = 0
    for store in stores {
      guard StoreName.isSynced(store.name), case .object(let vector) = store.value else {
        throw malformed
      }
      for member in vector {
        count += 1
        guard let id = JSON.string(member.name).hexadecimal, id > 0,
          let time = member.value.hexadecimal, count <= Self.limit
        else { throw malformed }
        raise(
          ReplicaID(rawValue: id), in: ByteText(store.name), to: HybridTimestamp(rawValue: time))
      }
    }
  }
}
