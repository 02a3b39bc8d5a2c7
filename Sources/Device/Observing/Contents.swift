// SPDX-License-Identifier: Apache-2.0
//
// What others have changed in a file, by comparing it with what was known before. Works for every
// kind of writer, a shell that knows nothing of ours included.

import KeepsakeValues

/// The observed part of a device, as its observers know it.
struct Contents {
  private var scopes = ScopeIndex()
  /// Scopes whose values have still to be read, by their observers.
  private var unread: [Int: Scope] = [:]
  /// Values of `scopes` that are not in `values` yet, by the observers that they were read for.
  private(set) var initial: [Int: InitialValues] = [:]
  /// The addresses that this process has changed since the first of `initial` was made.
  private var changed: Set<Address> = []
  /// Without tombstones; undecoded, because arrays and dictionaries take many times their bytes.
  private var values: [Address: TaggedCell] = [:]
  /// The last sequence number that was looked at.
  private var sequenceNumber: Int64 = 0
  private var hasMet = false

  var hasUnread: Bool { !unread.isEmpty }

  /// Adds an observer's scope. What is in it when it is first read is no change.
  mutating func widen(_ id: Int, _ scope: Scope) {
    if covers(scope) { scopes.add(id, scope) } else { unread[id] = scope }
  }

  /// Adds an observer's scope with the values of a snapshot, which is of the state that was looked
  /// at last.
  mutating func widen(_ id: Int, _ values: InitialValues) {
    scopes.add(id, values.scope)
    initial[id] = values
  }

  /// Whether all values of a scope are known, or in `initial`.
  func covers(_ scope: Scope) -> Bool { scopes.covers(scope) }

  /// Takes away a scope that was added, when `initial` is empty.
  mutating func narrow(_ id: Int, _ scope: Scope) {
    guard unread.removeValue(forKey: id) == nil else { return }
    scopes.remove(id, scope)
    guard !scopes.covers(scope) else { return }
    if let address = scope.address {
      values[address] = nil
    } else {
      values = values.filter { scopes.contains($0.key) }
    }
  }

  /// Notes what this process has changed.
  ///
  /// - Parameter isWhole: whether everything was known that others had changed before. If not, the
  ///   numbers of these changes are above some that have still to be looked at.
  mutating func note(_ changes: [SettingChange], isWhole: Bool) {
    for change in changes {
      let address = Address(store: change.store, key: change.key)
      if scopes.contains(address) {
        values[address] = change.after.ifValue
        if !initial.isEmpty { changed.insert(address) }
      }
      if isWhole { sequenceNumber = max(sequenceNumber, change.transaction) }
    }
  }

  /// Takes in the values of `initial`, which are read now unless they have been.
  ///
  /// - Parameter waits: false leaves those that are not read yet.
  /// - Throws: if values cannot be read. Then nothing is known: all scopes are read again.
  mutating func takeInitial(waits: Bool = true) throws {
    do {
      for (id, initial) in initial where waits || initial.isRead {
        var all = try initial.take()
        for address in changed { all[address] = values[address] }
        if all.count < values.count {
          values.merge(all) { known, _ in known }
        } else {
          all.merge(values) { $1 }
          values = all
        }
        self.initial[id] = nil
      }
    } catch {
      forgetValues()
      throw error
    }
    if initial.isEmpty { changed = [] }
  }

  /// Makes all scopes unread.
  mutating func forgetValues() {
    unread.merge(scopes.byObserver) { $1 }
    for values in initial.values { values.end() }
    (scopes, initial, changed, values) = (ScopeIndex(), [:], [], [:])
  }

  /// The net changes since the last call, in the order they arrived; deletions that left no trace
  /// come last.
  ///
  /// O(what has changed); O(what is observed) where a commit has no sequence number to show,
  /// or one of those that were given since is no longer there.
  ///
  /// A row that a foreign program changed without a new number is not noticed when the commit comes
  /// between others that have new numbers.
  ///
  /// - Parameter hasCommits: false when nothing can have changed; then only scopes that were added
  ///   are read.
  mutating func changes(_ connection: Connection, hasCommits: Bool) throws -> [SettingChange] {
    let replica = try ReplicaState(connection)
    let hasMet = try connection.hasMet()
    var news = News(replica: replica, reason: self.hasMet ? .merge : .firstMerge)
    if hasCommits, !scopes.isEmpty {
      try takeInitial()
      try compare(connection, &news)
    }
    var added: [Address: TaggedCell] = [:]
    for scope in unread.values {
      try connection.forEachEntry(in: scope) { added[$0.address] = $0.content.ifValue }
    }
    if values.isEmpty { values = added } else { values.merge(added) { $1 } }
    for change in news.changes {
      values[Address(store: change.store, key: change.key)] = change.after.ifValue
    }
    for (id, scope) in unread { scopes.add(id, scope) }
    unread = [:]
    (sequenceNumber, self.hasMet) = (replica.sequenceNumber, hasMet)
    return news.changes
  }

  /// What was found, before any of it is noted: a reading that fails is done again.
  private struct News {
    let replica: ReplicaState
    let reason: SettingChange.Reason
    var changes: [SettingChange] = []

    mutating func add(_ entry: Entry, replacing old: TaggedCell?) {
      let (old, new) = (old ?? .tombstone, entry.content.ifValue ?? .tombstone)
      guard old != new else { return }
      changes.append(
        SettingChange(
          store: entry.address.store.string, key: entry.address.key.string, from: old, to: new,
          writer: entry.replicaID, timestamp: entry.timestamp,
          reason: entry.replicaID == replica.id ? .local : reason, process: .other,
          transaction: replica.sequenceNumber))
    }
  }

  private func compare(_ connection: Connection, _ news: inout News) throws {
    let given = news.replica.sequenceNumber - sequenceNumber
    var arrived: Set<Address> = []
    var found: Int64 = 0
    if given > 0 {
      try connection.forEachEntry(after: sequenceNumber) { entry in
        found += 1
        guard scopes.contains(entry.address) else { return }
        arrived.insert(entry.address)
        news.add(entry, replacing: values[entry.address])
      }
    }
    // Every number that was given is there: nothing was overwritten or taken away since.
    if given > 0, found == given { return }
    var there: Set<Address> = []
    for scope in scopes.all {
      try connection.forEachEntry(in: scope) { entry in
        guard !entry.content.isTombstone, there.insert(entry.address).inserted else { return }
        if !arrived.contains(entry.address) {
          news.add(entry, replacing: values[entry.address])
        }
      }
    }
    let lost = values.keys.filter {
      !there.contains($0) && !arrived.contains($0) && scopes.contains($0)
    }
    // No tombstone says who deleted them, so it was this device.
    for address in lost.sorted() {
      let deletion = Entry(
        address, .tombstone, timestamp: news.replica.last, replicaID: news.replica.id)
      news.add(deletion, replacing: values[address])
    }
  }
}

extension Connection {
  /// Calls `body` for what has arrived after `number`, in that order.
  fileprivate func forEachEntry(after number: Int64, _ body: (Entry) -> Void) throws {
    try run(
      """
      SELECT store, key, type, value, timestamp, replica_id FROM entry INDEXED BY entry_sequence
      WHERE sequence_number > ?1 ORDER BY sequence_number
      """, [.integer(number)]
    ) { row in
      body(row.entry(from: 0))
      return true
    }
  }

  /// - Parameter check: called for each row that is read; what it throws ends the reading.
  func forEachEntry(
    in scope: Scope, check: () throws -> Void = {}, body: (Entry) -> Void
  ) throws {
    switch (scope.store, scope.keys.kind) {
    case (let store?, .keys(let keys)):
      for key in keys.sorted() {
        try check()
        try entry(at: Address(store: store.string, key: key.string)).map(body)
      }
    case (let store, let kind):
      let prefix = if case .prefix(let prefix) = kind { prefix.string } else { "" }
      try forEachEntry(
        store: store?.string, prefix: prefix, check: check, where: scope.contains, body)
    }
  }

  /// Whether this device has ever read another one.
  package func hasMet() throws -> Bool {
    try first(
      """
      SELECT 1 FROM peer WHERE cursor_number > 0 OR synced_at > 0
      UNION ALL SELECT 1 FROM hub LIMIT 1
      """
    ) { _ in true } ?? false
  }
}
