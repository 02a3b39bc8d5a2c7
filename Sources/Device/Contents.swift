// SPDX-License-Identifier: Apache-2.0
//
// What others have changed in a file, by comparing it with what was known before. Works for every
// kind of writer, a shell that knows nothing of ours included.

import KeepsakeValues

/// The observed part of a device, as its observers know it.
struct Contents {
  private(set) var scopes: [Scope] = []
  /// Scopes whose values have still to be read.
  private var unread: [Scope] = []
  private var values: [Address: StoredValue] = [:]
  /// The last arrival number that was looked at.
  private var lseq: Int64 = 0
  private var hasMet = false

  var hasUnread: Bool { !unread.isEmpty }

  /// Adds a scope. What is in it when it is first read is no change.
  mutating func widen(_ scope: Scope) { unread.append(scope) }

  /// Keeps no more than these scopes.
  mutating func narrow(to scopes: [Scope]) {
    let count = self.scopes.count
    self.scopes.removeAll { !scopes.contains($0) }
    unread.removeAll { !scopes.contains($0) }
    if self.scopes.count < count { values = values.filter { isWanted($0.key) } }
  }

  /// Notes what this process has changed.
  mutating func note(_ changes: [Change]) {
    for change in changes {
      let address = Address(store: change.store, key: change.key)
      if isWanted(address) { values[address] = change.new }
      lseq = max(lseq, change.transaction)
    }
  }

  private func isWanted(_ address: Address) -> Bool { scopes.contains { $0.contains(address) } }

  /// The net changes since the last call, in the order they arrived; deletions that left no trace
  /// come last.
  ///
  /// O(what has changed); O(what is observed) where a commit has no arrival number to show, or one
  /// of those that were given since is no longer there.
  mutating func changes(_ connection: Connection) throws -> [Change] {
    let replica = try ReplicaState(connection)
    let hasMet = try connection.hasMet()
    var news = News(replica: replica, reason: self.hasMet ? .merge : .firstMerge)
    if !scopes.isEmpty { try compare(connection, &news) }
    for scope in unread {
      try connection.forEachEntry(in: scope) { values[$0.address] = $0.content.value }
    }
    for change in news.changes {
      values[Address(store: change.store, key: change.key)] = change.new
    }
    (scopes, unread) = (scopes + unread, [])
    (lseq, self.hasMet) = (replica.lseq, hasMet)
    return news.changes
  }

  /// What was found, before any of it is noted: a reading that fails is done again.
  private struct News {
    let replica: ReplicaState
    let reason: Change.Reason
    var changes: [Change] = []

    mutating func add(
      _ address: Address, _ old: StoredValue?, _ new: StoredValue?, _ stamp: HybridTimestamp,
      by writer: ReplicaID
    ) {
      changes.append(
        Change(
          store: address.store.string, key: address.key.string, old: old, new: new,
          writer: writer, stamp: stamp, reason: writer == replica.id ? .local : reason,
          process: .other, transaction: replica.lseq))
    }

    mutating func add(_ entry: Entry, replacing old: StoredValue?) {
      guard old != entry.content.value else { return }
      add(entry.address, old, entry.content.value, entry.stamp, by: entry.origin)
    }
  }

  private func compare(_ connection: Connection, _ news: inout News) throws {
    let given = news.replica.lseq - lseq
    var arrived: Set<Address> = []
    var found: Int64 = 0
    if given > 0 {
      try connection.forEachEntry(after: lseq) { entry in
        found += 1
        guard isWanted(entry.address) else { return }
        arrived.insert(entry.address)
        news.add(entry, replacing: values[entry.address])
      }
    }
    // Every number that was given is there: nothing was overwritten or taken away since.
    if given > 0, found == given { return }
    var there: Set<Address> = []
    for scope in Set(scopes) {
      try connection.forEachEntry(in: scope) { entry in
        guard !entry.content.isTombstone, there.insert(entry.address).inserted else { return }
        if !arrived.contains(entry.address) {
          news.add(entry, replacing: values[entry.address])
        }
      }
    }
    let lost = values.keys.filter {
      !there.contains($0) && !arrived.contains($0) && isWanted($0)
    }
    // Nobody wrote down who deleted them, so it was this device.
    for address in lost.sorted() {
      news.add(address, values[address], nil, news.replica.last, by: news.replica.id)
    }
  }
}

extension Connection {
  private static let columns = "SELECT store, key, tag, value, hlc, origin FROM entry"

  /// Calls `body` for what has arrived after `lseq`, in that order.
  fileprivate func forEachEntry(after lseq: Int64, _ body: (Entry) -> Void) throws {
    try run("\(Self.columns) INDEXED BY entry_lseq WHERE lseq > ?1 ORDER BY lseq", [.integer(lseq)])
    { row in
      body(row.entry(Address(store: row.text(0), key: row.text(1)), from: 2))
      return true
    }
  }

  fileprivate func forEachEntry(in scope: Scope, _ body: (Entry) -> Void) throws {
    switch (scope.store, scope.keys.kind) {
    case (let store?, .keys(let keys)):
      for key in keys.sorted() {
        try entry(at: Address(store: store.string, key: key.string)).map(body)
      }
    case (let store?, .prefix(let prefix)):
      try run(
        "\(Self.columns) WHERE store = ?1 AND key >= ?2 ORDER BY key",
        [.text(store.string), .text(prefix.string)]
      ) { row in
        let address = Address(store: store.string, key: row.text(1))
        guard scope.contains(address) else { return false }
        body(row.entry(address, from: 2))
        return true
      }
    case (nil, _):
      try run(Self.columns) { row in
        let address = Address(store: row.text(0), key: row.text(1))
        if scope.contains(address) { body(row.entry(address, from: 2)) }
        return true
      }
    }
  }

  /// Whether this device has ever read another one.
  package func hasMet() throws -> Bool {
    try first("SELECT 1 FROM peer WHERE read_token IS NOT NULL LIMIT 1") { _ in true } ?? false
  }
}
