// SPDX-License-Identifier: Apache-2.0
//
// What handles on one file that were opened alike share within a process: the connection, and what
// the file's other cores share too. Observers run after the outermost transaction, on the thread
// that committed, with no lock held.

import Dispatch
import KeepsakeStorage
import KeepsakeValues
import Synchronization

final class Core: Sendable {
  let storage: Storage
  let shared: SharedState
  /// Only used by the thread that has the connection.
  let session = WriteSession()
  /// Threads that set at once.
  let sets = SetQueue()
  /// The facts that the last merge has read of the file; of a type of Sync.
  let mergeFacts = Mutex<(any Sendable)?>(nil)

  var isReadOnly: Bool { storage.isReadOnly }
  var versions: ReadVersions { storage.versions }

  /// - Parameter shared: of all cores on the file.
  init(
    _ opened: Opened, file: FileID?, shared: SharedState = SharedState(),
    folder: TemporaryFolder? = nil
  ) throws(KeepsakeError) {
    self.shared = shared
    storage = Storage(
      opened, file: file, layers: shared.layers, folder: folder,
      report: { [shared] in shared.upkeep.notify($0) },
      reportLoss: { [shared] in shared.upkeep.reportLoss($0) })
    shared.feed.register(storage)
  }

  /// Reads from one snapshot what this thread reads meanwhile.
  func snapshot<Value>(_ body: () throws -> Value) throws(KeepsakeError) -> Value {
    var isOutermost = false
    defer { if isOutermost { shared.tellObservers() } }
    return try storage.access { connection in
      if connection.isInTransaction { return try body() }
      isOutermost = true
      defer { shared.note(&session.reports) }
      versions.beginTransaction()
      defer { versions.endTransaction() }
      return try connection.transaction(.deferred) { _ in try body() }
    }
  }

  /// Writes everything that `body` does, or nothing; then notifies the observers. Within another
  /// write it joins that one, and is undone with it.
  ///
  /// - Parameters:
  ///   - durability: of the commit; what joins another write makes that one at least as durable.
  ///   - limit: how long to wait for other connections; nil for as long as the device does.
  ///   - savepoint: whether `body` may have written something when it throws.
  func write<Value>(
    _ durability: Durability = .crashSafe, savepoint: Bool = true, waiting limit: Duration? = nil,
    _ body: (Connection, WriteSession) throws -> Value
  ) throws(KeepsakeError) -> Value {
    guard !storage.isReadingAside else { throw isOnlyRead }
    guard !isReadOnly else {
      throw KeepsakeError(
        .readOnly, path: storage.location.path, "the device was opened read-only",
        cure: "open it for writing")
    }
    let isWithin = storage.isMine
    var isOutermost = false
    // Observers are notified of what others committed before even when this fails.
    defer { if isOutermost { shared.tellObservers() } }
    let deadline = limit.map(DispatchTime.init(after:))
    let (value, needsBarrier) = try storage.access(waiting: limit) { connection in
      if versions.isInOurTransaction || connection.isInTransaction {
        guard isWithin else { throw connection.isLeftOpen }
        guard versions.isInOurTransaction else { throw isOnlyRead }
        if let ending = session.ending { throw ending }
        if durability > session.durability { session.needsBarrier = true }
        return (try join(connection, savepoint: savepoint, body), false)
      }
      isOutermost = true
      // What is left of it, after waiting for other threads.
      let rest = deadline.map(\.fromNow)
      return (try commit(connection, durability, waiting: rest, body), session.needsBarrier)
    }
    if isOutermost { storage.checkpoints?.runIfDue() }
    if needsBarrier { try storage.synchronize() }
    return value
  }

  /// A transaction of its own for what `body` does.
  ///
  /// - Parameter limit: how long to wait for other connections; nil for as long as the device does.
  func commit<Value>(
    _ connection: Connection, _ durability: Durability, waiting limit: Duration?,
    _ body: (Connection, WriteSession) throws -> Value
  ) throws -> Value {
    defer { shared.note(&session.reports) }
    storage.busyHandler.limit(to: limit)
    defer { storage.busyHandler.limit(to: nil) }
    if durability != session.durability {
      try connection.use(durability)
      session.durability = durability
    }
    let feed = shared.feed
    // An observer that is added within the transaction is not notified of it.
    let (isObserved, end) = feed.observers.presence
    // In memory an observer may come while the transaction is under way; to a file it comes only
    // with the connection.
    session.begin(keepsSteps: isObserved || !versions.seesOthers)
    versions.beginTransaction()
    defer { versions.endTransaction() }
    var before: ReadVersion?
    var commits: UInt32?
    let total = connection.totalChanges
    let value = try connection.transaction(.immediate) { connection in
      before = versions.beforeCommit
      if let before { session.resume(at: before) }
      if isObserved {
        commits = feed.willWrite(connection, versions) { session.reports.append($0) }
      }
      let value = try body(connection, session)
      if let ending = session.ending { throw ending }
      try session.finish(connection, isObserved: isObserved)
      // Last. A name that is lost after this check has the same effect as one that is lost after
      // the commit: this process saves the log. So no check follows the commit.
      try storage.names?.check()
      return value
    }
    // Do this at once: readers wait for it.
    if let before, let after = versions.successor(of: before) {
      if session.isComplete { shared.trail.add(from: before, to: after, session.changes) }
      session.end(at: after)
    }
    // An observer that was added since gets the steps after it, and the feed knows its old values.
    if isObserved || feed.observers.presence.isObserved {
      func whole() -> WriteStep {
        WriteStep(
          changes: session.netChanges, isCommit: connection.totalChanges != total, end: end)
      }
      feed.didWrite(session.steps.isEmpty ? [whole()] : session.steps, after: commits, versions)
    }
    if session.writes > 0 { tell(.wrote(session.writes)) }
    return value
  }

  private func join<Value>(
    _ connection: Connection, savepoint: Bool,
    _ body: (Connection, WriteSession) throws -> Value
  ) throws -> Value {
    let (count, writes) = (session.changes.count, session.writes)
    do {
      guard savepoint else { return try body(connection, session) }
      return try connection.transaction(.immediate) { try body($0, session) }
    } catch {
      session.rewind(to: count, writes: writes)
      // A full disk ends the transaction, not only this part of it.
      if !connection.isInTransaction { session.ending = error }
      throw error
    }
  }
}
