// SPDX-License-Identifier: Apache-2.0
//
// What handles on one file that were opened alike share within a process: the connection, and what
// the file's other cores share too.
//
// Threading: GRDB's queue lets one access at a time use the connection. An access from within an
// access, as when a setting is read while another is updated, joins it: it uses the same
// connection, and its writes are part of the outer transaction. Observers run after the outermost
// one, on the thread that committed, with no lock held.

import GRDB
import GRDBSQLite
package import KeepsakeValues

package final class Core: Sendable {
  package let location: Location
  package let isReadOnly: Bool
  package let mode: Location.Mode
  /// Tells whether two cores have one file; nil in memory.
  package let file: FileID?
  package let shared: SharedState
  /// Deleted when the connection has gone.
  private let folder: TemporaryFolder?
  let queue: DatabaseQueue
  let patience: Patience
  /// Nil where nothing is written, or no log is.
  package let checkpoints: Checkpoints?
  let still: StillFile?
  /// Only used from within the queue.
  let session = WriteSession()
  package let moments: Moments

  /// - Parameter shared: of all cores on the file.
  init(
    _ opened: Opened, file: FileID?, shared: SharedState = SharedState(),
    folder: TemporaryFolder? = nil
  ) {
    self.file = file
    self.shared = shared
    self.folder = folder
    location = opened.location
    mode = opened.mode
    isReadOnly = opened.mode != .readWrite
    queue = opened.queue
    (patience, still) = (opened.patience, opened.still)
    moments = Moments(
      opened.index, layers: shared.layers, isPrivate: file == nil || opened.mode == .immutable)
    checkpoints =
      file == nil || isReadOnly
      ? nil : Checkpoints(location, patience) { [shared] in shared.upkeep.report($0) }
    shared.feed.register(self)
    if let checkpoints {
      queue.unsafeReentrantWrite { checkpoints.follow(Connection($0, location)) }
    }
  }

  deinit {
    checkpoints?.stop()
    // Closing checkpoints and removes the log. What fails here fails for good reasons (a reader
    // elsewhere), and the next open does it.
    Result { try queue.close() }.discardFailure()
  }

  /// Uses the connection outside of a transaction, if there is none to join: each statement sees
  /// its own snapshot.
  package func access<Value>(_ body: (Connection) throws -> Value) throws(KeepsakeError) -> Value {
    do {
      return try queue.unsafeReentrantWrite { database in
        let connection = Connection(database, location)
        return try StillFile.checking(still) {
          try connection.explaining { try body(connection) }
        }
      }
    } catch {
      throw KeepsakeError(error, path: location.path)
    }
  }

  /// From now on nothing is committed once `sender` was written to while we read it.
  package func reads(_ sender: Core?) throws(KeepsakeError) {
    try access { _ in session.sender = sender }
  }

  /// Reads from one snapshot.
  package func read<Value>(_ body: (Connection) throws -> Value) throws(KeepsakeError) -> Value {
    try access { try $0.transaction(.deferred) { try body($0) } }
  }

  /// As `read`, and what this thread reads meanwhile by other calls is from that snapshot too.
  func snapshot<Value>(_ body: () throws -> Value) throws(KeepsakeError) -> Value {
    try access { connection in
      if connection.isInTransaction { return try body() }
      moments.beginTransaction()
      defer { moments.endTransaction() }
      return try connection.transaction(.deferred) { _ in try body() }
    }
  }

  /// Writes everything that `body` does, or nothing; then tells the observers. Within another write
  /// it joins that one, and is undone with it.
  ///
  /// - Parameter body: also returns what changed; runs while the file is locked for writing, unless
  ///   a newer version has taken the file over.
  package func write<Value>(
    _ body: (Connection) throws -> (Value, [Change])
  ) throws(KeepsakeError) -> Value {
    try write { connection, session in
      _ = try ReplicaState(writing: connection)
      let (value, changes) = try body(connection)
      session.note(changes)
      return value
    }
  }

  /// - Parameters:
  ///   - durability: of the commit; what joins another write makes that one at least as durable.
  ///   - limit: how long to wait for other connections; nil for as long as the device does.
  ///   - savepoint: whether `body` may have written something when it throws.
  func write<Value>(
    _ durability: Durability = .crashSafe, savepoint: Bool = true, waiting limit: Duration? = nil,
    _ body: (Connection, WriteSession) throws -> Value
  ) throws(KeepsakeError) -> Value {
    guard !isReadOnly else {
      throw KeepsakeError(
        .readOnly, path: location.path, "the device was opened read-only",
        cure: "open it for writing")
    }
    var isOutermost = false
    // What others have committed before is told even when this fails.
    defer { if isOutermost { Lease.tellObservers(shared) } }
    let (value, needsBarrier) = try access { connection in
      if moments.isInOurTransaction || connection.isInTransaction {
        if let ending = session.ending { throw ending }
        if durability > session.durability { session.needsBarrier = true }
        return (try join(connection, savepoint: savepoint, body), false)
      }
      isOutermost = true
      patience.limit(to: limit)
      defer { patience.limit(to: nil) }
      if durability != session.durability {
        try connection.use(durability)
        session.durability = durability
      }
      return (try commit(connection, body), session.needsBarrier)
    }
    if isOutermost { checkpoints?.runIfDue() }
    if needsBarrier { try synchronize() }
    return value
  }

  private func commit<Value>(
    _ connection: Connection, _ body: (Connection, WriteSession) throws -> Value
  ) throws -> Value {
    session.begin()
    moments.beginTransaction()
    defer { moments.endTransaction() }
    let feed = shared.feed
    let isObserved = !feed.observers.isEmpty
    // Whoever begins to observe within the transaction hears nothing of it.
    let end = feed.observers.end
    var commits: UInt32?
    let total = connection.totalChanges
    let value = try connection.transaction(.immediate) { connection in
      try connection.refuseMovedFile()
      if isObserved { commits = feed.willWrite(connection, moments) }
      let value = try body(connection, session)
      if let ending = session.ending { throw ending }
      try session.sender?.still?.check()
      try session.finish(connection, isObserved: isObserved)
      return value
    }
    if isObserved {
      feed.didWrite(
        session.netChanges, isCommit: connection.totalChanges != total, after: commits, end: end,
        moments)
    }
    return value
  }

  private func join<Value>(
    _ connection: Connection, savepoint: Bool,
    _ body: (Connection, WriteSession) throws -> Value
  ) throws -> Value {
    let count = session.changes.count
    do {
      guard savepoint else { return try body(connection, session) }
      return try connection.transaction(.immediate) { try body($0, session) }
    } catch {
      session.rewind(to: count)
      // A full disk ends the transaction, not only this part of it.
      if !connection.isInTransaction { session.ending = error }
      throw error
    }
  }
}

extension Connection {
  init(_ database: Database, _ location: Location) {
    self.init(database: database, path: location.path)
  }

  var isInTransaction: Bool { database.isInsideTransaction }

  /// How many rows this connection has ever touched.
  fileprivate var totalChanges: Int { database.totalChangesCount }

  /// Throws when the path leads to another file by now, or to none: SQLite would go on writing into
  /// the file that was deleted, and nobody would ever read it.
  package func refuseMovedFile() throws {
    var hasMoved: Int32 = 0
    let code = sqlite3_file_control(
      database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    // A database in memory has no file to move.
    guard code == SQLITE_OK, hasMoved != 0 else { return }
    throw KeepsakeError(
      .inputOutput, path: path, "the file was deleted or replaced while it was open",
      cure: "put it back, or open the device anew")
  }

  enum TransactionKind: String { case deferred = "BEGIN", immediate = "BEGIN IMMEDIATE" }

  /// Commits what `body` did, or rolls it back and throws. In a transaction, a savepoint of it.
  ///
  /// By our own statements, which are prepared once: GRDB prepares its own each time.
  func transaction<Value>(
    _ kind: TransactionKind, _ body: (Connection) throws -> Value
  ) throws -> Value {
    let (begin, commit, rollBack) =
      isInTransaction
      ? ("SAVEPOINT part", "RELEASE part", ["ROLLBACK TO part", "RELEASE part"])
      : (kind.rawValue, "COMMIT", ["ROLLBACK"])
    try run(begin)
    do {
      let value = try body(self)
      try run(commit)
      return value
    } catch {
      // SQLite rolls back by itself when the disk is full or broken. What fails here fails for the
      // reason that is thrown.
      Result { if isInTransaction { for sql in rollBack { try run(sql) } } }.discardFailure()
      throw error
    }
  }
}

extension Device {
  /// Whether this device can only be read.
  public var isReadOnly: Bool { core.isReadOnly }
}
