// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// What observers get at once.
struct WriteStep {
  let changes: [SettingChange]
  /// Whether it has written anything, also when no value has changed.
  let isCommit: Bool
  /// Observers from this one on came later.
  let end: Int
}

/// What the write transaction under way has done so far.
// Sendable: only used by the thread that has the connection of its core.
final class WriteSession: @unchecked Sendable {
  /// In the order in which they were made.
  private(set) var changes: [SettingChange] = []
  /// Of a transaction in which several threads' writes share a commit, one for each; empty for any
  /// other, and where there is no observer to be told.
  private(set) var steps: [WriteStep] = []
  private var keepsSteps = false
  /// How many writes are made, also of what was there already.
  private(set) var writes = 0
  /// Whether `changes` has everything that was changed of what a store reads.
  private(set) var isComplete = true
  /// Nil when it has to be read.
  private var replica: ReplicaState?
  /// What it was after the last commit, and the version of the file that the commit made.
  private var last: (replica: ReplicaState, version: ReadVersion)?
  /// Whether numbers were given that the file does not know.
  private var hasRewound = false
  /// The last sequence number of the transaction, once it is finished.
  private var transaction: Int64 = 0
  /// Whether the last write was of a key that had no entry: then the next one is taken for another,
  /// and looked up only if it is not.
  private var isFilling = false
  /// What the connection is set to.
  var durability = Durability.crashSafe
  /// A part of the transaction has to survive more than its commit does.
  var needsBarrier = false

  /// Why SQLite has ended the transaction by itself, and with it everything that it has written;
  /// what is left of it must not be taken for another one.
  var ending: (any Error)?
  /// Where what runs now leaves what it cannot throw; nil for a write of the library's own.
  var setterFailures: SetterFailures?
  /// What is to be called when the transaction is over, whichever way it ends.
  var reports: [@Sendable () -> Void] = []

  /// - Parameter keepsSteps: whether there is an observer, or may come one meanwhile.
  func begin(keepsSteps: Bool) {
    (changes, steps, replica, needsBarrier, writes) = ([], [], nil, false, 0)
    self.keepsSteps = keepsSteps
    ending = nil
    (isComplete, hasRewound, isFilling) = (true, false, false)
  }

  /// When the file is locked.
  ///
  /// - Parameter version: of the file. Where it is the last commit's, there is nothing to read.
  func resume(at version: ReadVersion) {
    if let last, last.version == version { replica = last.replica }
    last = nil
  }

  /// After the commit.
  ///
  /// - Parameter version: what it made.
  func end(at version: ReadVersion) {
    if let replica, isComplete, !hasRewound { last = (replica, version) }
  }

  /// Notes what was changed by other means than `add`.
  func note(_ changes: [SettingChange]) {
    self.changes += changes
    replica = nil
    isComplete = false
  }

  /// Forgets changes that no observer wants; they stay written.
  func drop(after count: Int) {
    rewind(to: count, writes: writes)
    isComplete = false
  }

  /// Forgets what was taken back. Timestamps and sequence numbers that were given stay given.
  ///
  /// - Parameters:
  ///   - count: of the changes that stay.
  ///   - writes: of those that stay.
  func rewind(to count: Int, writes: Int) {
    changes.removeLast(changes.count - count)
    self.writes = writes
    hasRewound = true
  }

  /// Makes a write that is a step of its own.
  ///
  /// - Returns: its change, if there is one.
  /// - Throws: as `add`; then it is no step.
  func step(
    _ set: QueuedSet, _ connection: Connection, _ observers: Observers
  ) throws -> [SettingChange] {
    let (count, total) = (changes.count, connection.totalChanges)
    try add(set.write, connection, at: set.time)
    var new = Array(changes[count...])
    for index in new.indices { new[index].transaction = replica?.sequenceNumber ?? 0 }
    if keepsSteps {
      steps.append(
        WriteStep(
          changes: new, isCommit: connection.totalChanges != total, end: observers.end))
    }
    return new
  }

  /// - Parameter time: the wall clock's, which is asked only if it is needed.
  func add(
    _ write: LocalWrite, _ connection: Connection, at time: @autoclosure () -> Int64
  ) throws {
    try check(write.address, connection)
    let content = try write.content.get()
    do {
      try EntrySize.check(write.address, content, connection.path)
    } catch {
      // One that another program has made can be deleted.
      guard content.isTombstone, try connection.entry(at: write.address) != nil else { throw error }
    }
    func next(replacing old: HybridTimestamp?) throws -> Stamped {
      try stamped(
        write.address, content, replacing: old, at: write.wallClock ?? time(), connection)
    }
    if isFilling, !content.isTombstone {
      let next = try next(replacing: nil)
      isFilling = try connection.entries.insert(next.entry, as: next.replica.sequenceNumber)
      if isFilling { return note(next, replacing: .tombstone) }
    }
    let old = try connection.entry(at: write.address)
    let before = old?.content ?? .tombstone
    let isSynced = StoreName.isSynced(write.address.store.string)
    guard isSynced || before != content else { return writes += 1 }
    let next = try next(replacing: old?.timestamp)
    if content.isTombstone, !isSynced {
      try connection.entries.delete(write.address)
      // The newest row may be gone, and with it what it said of the counters.
      try next.replica.save(connection)
    } else {
      try connection.entries.put(next.entry, as: next.replica.sequenceNumber)
    }
    isFilling = old == nil
    note(next, replacing: before)
  }

  /// An entry with the next timestamp and number, and what the device's counters are with it.
  private typealias Stamped = (entry: Entry, replica: ReplicaState)

  private func stamped(
    _ address: Address, _ content: TaggedCell, replacing old: HybridTimestamp?, at now: Int64,
    _ connection: Connection
  ) throws -> Stamped {
    var replica = try self.replica ?? ReplicaState(writing: connection)
    guard
      let timestamp = HybridTimestamp.next(after: replica.last, replacing: old, wallClock: now)
    else {
      throw Schema.damaged(connection.path, "its clock is at the end of time")
    }
    replica.last = timestamp
    replica.sequenceNumber += 1
    try Schema.refuseExhausted(replica.sequenceNumber, connection.path)
    return (Entry(address, content, timestamp: timestamp, replicaID: replica.id), replica)
  }

  /// Notes what was written.
  private func note(_ next: Stamped, replacing before: TaggedCell) {
    replica = next.replica
    writes += 1
    if before != next.entry.content {
      changes.append(SettingChange(next.entry, replacing: before))
    }
  }

  /// Before the commit.
  func finish(_ connection: Connection, isObserved: Bool) throws {
    guard isObserved, !changes.isEmpty else { return }
    transaction = try (replica ?? ReplicaState(connection)).sequenceNumber
  }

  /// One change for each key that the transaction has changed, once it is finished.
  var netChanges: [SettingChange] {
    var net = SettingChange.net(changes)
    for index in net.indices { net[index].transaction = transaction }
    return net
  }

  private func check(_ address: Address, _ connection: Connection) throws {
    guard !address.key.string.isEmpty, !address.store.string.isEmpty else {
      let what = address.key.string.isEmpty ? "key" : "store name"
      throw KeepsakeError(
        .invalidKey, path: connection.path, "the \(what) is empty",
        cure: "use a \(what) of at least one character")
    }
  }
}

extension SettingChange {
  fileprivate init(_ entry: Entry, replacing old: TaggedCell) {
    self.init(
      store: entry.address.store.string, key: entry.address.key.string, from: old,
      to: entry.content, writer: entry.replicaID, timestamp: entry.timestamp, reason: .local)
  }

  /// One change for each key that has another value than before the first of `changes`, in the
  /// order in which the keys were first changed.
  static func net(_ changes: [SettingChange]) -> [SettingChange] {
    guard changes.count > 1 else { return changes }
    var places: [Address: Int] = [:]
    var net: [SettingChange] = []
    for change in changes {
      let address = Address(store: change.store, key: change.key)
      if let place = places[address] {
        net[place] = change.after(net[place])
      } else {
        places[address] = net.count
        net.append(change)
      }
    }
    return net.filter { $0.before != $0.after }
  }
}
