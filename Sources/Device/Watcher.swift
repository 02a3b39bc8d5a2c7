// SPDX-License-Identifier: Apache-2.0
//
// What others have changed in a file, by comparing it with what was known before. Works for every
// kind of writer, a shell that knows nothing of ours included.

package import KeepsakeValues

/// The contents of a device as somebody who looks again and again knows them.
package final class Watcher {
  private let device: Device
  private let store: String?
  private let prefix: String
  private var known: [Address: Entry] = [:]
  /// SQLite's count of the commits of others.
  /// https://www.sqlite.org/pragma.html#pragma_data_version
  private var version: Int64 = -1
  private var lseq: Int64 = 0

  /// - Parameters:
  ///   - device: opened for itself: its own commits are not seen.
  ///   - store: only this one; nil for all.
  ///   - prefix: only keys that start with these bytes.
  package init(_ device: Device, store: String? = nil, prefix: String = "") throws(KeepsakeError) {
    self.device = device
    self.store = store
    self.prefix = prefix
    _ = try changes()
  }

  /// The net changes since the last call, in the order they arrived; deletions that left no trace
  /// come last.
  ///
  /// O(1) when nobody has committed, else what has changed; O(entries) where a commit has no
  /// arrival number to show, or a store that keeps no tombstones has lost a key.
  package func changes() throws(KeepsakeError) -> [Change] {
    try device.core.access { connection in
      try connection.refuseMovedFile()
      let now = try connection.first("PRAGMA data_version") { $0.integer(0) } ?? 0
      guard now != version else { return [] }
      let isFirst = version < 0
      let changes = try connection.transaction(.deferred) { connection in
        let replica = try ReplicaState(connection)
        defer { lseq = replica.lseq }
        let hasNews = replica.lseq > lseq && !isFirst
        let news = hasNews ? try entries(connection, after: lseq) : []
        let changes = news.compactMap { take($0, replica.id) }
        let live = try count(connection)
        return hasNews && live == known.count
          ? changes : changes + (try compare(connection, replica.id))
      }
      version = now
      return isFirst ? [] : changes
    }
  }

  private static let columns = "store, key, tag, value, hlc, origin"

  private func entries(_ connection: Connection, after lseq: Int64) throws -> [Entry] {
    try connection.all(
      "SELECT \(Self.columns) FROM entry INDEXED BY entry_lseq WHERE lseq > ?1 ORDER BY lseq",
      [.integer(lseq)]
    ) { $0.entry(Address(store: $0.text(0), key: $0.text(1)), from: 2) }
    .filter(isWanted)
  }

  private func isWanted(_ entry: Entry) -> Bool {
    (store.map { entry.address.store == ByteText($0) } ?? true)
      && entry.address.key.string.utf8.starts(with: prefix.utf8)
  }

  private func count(_ connection: Connection) throws -> Int {
    guard prefix.isEmpty else { return try all(connection).count }
    let count = try connection.first(
      "SELECT count(*) FROM entry WHERE tag <> 0 AND (?1 IS NULL OR store = ?1)",
      [store.map(Cell.text) ?? .null]
    ) { $0.integer(0) }
    return Int(count ?? 0)
  }

  private func all(_ connection: Connection) throws -> [Entry] {
    try connection.all("SELECT \(Self.columns) FROM entry WHERE tag <> 0 ORDER BY lseq") {
      $0.entry(Address(store: $0.text(0), key: $0.text(1)), from: 2)
    }.filter(isWanted)
  }

  /// Notes an entry, and tells what it changes.
  private func take(_ entry: Entry, _ replica: ReplicaID) -> Change? {
    let old = known[entry.address]
    known[entry.address] = entry.content.isTombstone ? nil : entry
    guard old?.content ?? .tombstone != entry.content else { return nil }
    return change(entry.address, old, entry.content.value, entry.stamp, entry.origin, replica)
  }

  private func compare(_ connection: Connection, _ replica: ReplicaID) throws -> [Change] {
    let entries = try all(connection)
    let changed = entries.compactMap { take($0, replica) }
    let there = Set(entries.map(\.address))
    let lost = known.keys.filter { !there.contains($0) }.sorted()
    return changed
      + lost.map { address in
        let old = known.removeValue(forKey: address)
        // Nobody wrote down who deleted it, so it was this device, after that write.
        return change(address, old, nil, old?.stamp ?? .zero, replica, replica)
      }
  }

  private func change(
    _ address: Address, _ old: Entry?, _ new: StoredValue?, _ stamp: HybridTimestamp,
    _ origin: ReplicaID, _ replica: ReplicaID
  ) -> Change {
    Change(
      store: address.store.string, key: address.key.string, old: old?.content.value, new: new,
      origin: origin, stamp: stamp, reason: origin == replica ? .local : .merge)
  }
}
