// SPDX-License-Identifier: Apache-2.0
//
// Notifies observers of what other processes commit. A thread waits until the system reports a
// write to the log, and then looks at the wal-index, where the commit becomes visible shortly
// after; comparing finds what has changed. Where SQLite shows no index, the connection is asked.
// The thread exists only while there are observers.
//
// Invariants
// - `contents` advances in the order of commits: only with the connection through which this
//   process writes, and a write of ours first takes in what others have committed before it.
// - Counting tells our own commits from others': within a write transaction no other connection can
//   commit, so ours is the next one.
// - The thread retains the storage only while it looks, and the removal of the last observer waits
//   for that: the file is closed when its last handle has gone.

import Foundation
import KeepsakeValues
import Synchronization

/// The changes of one file for its observers in this process.
final class Feed: Sendable {
  struct State {
    var contents = Contents()
    /// The file's commit count up to which `contents` is known.
    var commits: UInt32?
    /// Ends the thread; nil when there is none.
    var events: FileEvents?
    var lastFailure: String?
  }

  let observers = Observers()
  /// Locked while changes are read, so no removal of an observer waits for it, but the last one's.
  let state = Mutex(State())
  /// Removed observers whose scopes `state.contents` still has.
  private let removed = Mutex<[(id: Int, scope: Scope)]>([])
  /// Held while the thread has a hold on the core.
  let looking = Mutex(())
  /// For tests: called when the thread begins a check.
  let checks = Handlers<Void>()

  private struct Weak: Sendable { weak var storage: Storage? }
  /// Of this file, in this process.
  private let files = Mutex<[Weak]>([])

  func register(_ storage: Storage) {
    // The last reference to a storage closes it: these end without the lock.
    let storages = files.withLock { files in
      let storages = files.map(\.storage)
      files = zip(files, storages).filter { $1 != nil }.map(\.0) + [Weak(storage: storage)]
      return storages
    }
    withExtendedLifetime(storages) {}
  }

  /// The storage to look through: the one that writes, while there is one.
  var storage: Storage? {
    let files = files.withLock { $0.compactMap(\.storage) }
    return files.first { !$0.isReadOnly } ?? files.first(where: hasOthers)
  }

  /// Whether others may commit while it is open.
  func hasOthers(_ storage: Storage) -> Bool {
    storage.file != nil && storage.mode != .immutable
  }

  // MARK: - Observers

  func remove(_ id: Int) {
    // It ends when nothing is locked any more: what it holds may write when it goes.
    guard let observer = observers.remove(id) else { return }
    defer { withExtendedLifetime(observer) {} }
    if let scope = observer.scope, storage.map(hasOthers) ?? false {
      removed.withLock { $0.append((id, scope)) }
    }
    guard observers.isEmpty else { return }
    // A thread that reads initial values may have the lock, and ends the reading now.
    let isLast = state.withLock { state in
      guard observers.isEmpty else { return false }
      let events = state.events
      events?.cancel()
      // An observer that is added now must not keep this reading alive.
      for values in state.contents.initial.values { values.end() }
      state = State()
      // The system may take milliseconds to close it.
      DispatchQueue.global().async { withExtendedLifetime(events) {} }
      removed.withLock { $0 = [] }
      return true
    }
    // The thread may be waiting for a transaction that we are in, or that waits for one of ours.
    if isLast, !Storage.isAnyMine { looking.withLock { _ in } }
  }

  // MARK: - What we commit

  /// At the beginning of a write transaction of ours: takes in what others have committed before.
  ///
  /// - Parameter later: gets what tells observers of a failure, when nothing is locked any more.
  /// - Returns: the file's commit count; nil without observers.
  func willWrite(
    _ connection: Connection, _ versions: ReadVersions,
    later: (@escaping @Sendable () -> Void) -> Void
  ) -> UInt32? {
    let (commits, error): (UInt32?, (any Error)?) = state.withLock { state in
      guard state.events != nil else { return (nil, nil) }
      let result = Result { _ = try catchUp(connection, versions, &state) }
      return (versions.commits, result.failure)
    }
    if let error {
      let failure = KeepsakeError(error, path: connection.path)
      later { [self] in report(failure, failure.path) }
    }
    return commits
  }

  /// After it, with what it has changed.
  ///
  /// - Parameters:
  ///   - steps: each is delivered on its own.
  ///   - commits: the count before it.
  func didWrite(_ steps: [WriteStep], after commits: UInt32?, _ versions: ReadVersions) {
    for step in steps {
      observers.enqueue(step.changes, end: step.end, isCommit: step.isCommit)
    }
    state.withLock { state in
      guard state.events != nil else { return }
      let isWhole = commits.map { $0 == state.commits } ?? false
      for step in steps { state.contents.note(step.changes, isWhole: isWhole) }
      // A transaction that wrote only to temporary tables is none for the file.
      guard steps.contains(where: \.isCommit), isWhole, let commits, versions.commits != commits
      else { return }
      state.commits = commits &+ 1
    }
  }

  // MARK: - What others commit

  /// The file's commit count; where SQLite does not show it, a count of the connection's, which
  /// grows when another one has committed.
  func commits(_ connection: Connection, _ versions: ReadVersions) throws -> UInt32 {
    guard !versions.seesOthers else { return versions.commits }
    let version = try connection.first("PRAGMA data_version", [], { $0.integer(0) })
    return UInt32(truncatingIfNeeded: version ?? 0)
  }

  /// Reads what has changed since the last look, if there was a commit.
  ///
  /// - Parameters:
  ///   - end: observers from this one on were added since, and are not notified.
  ///   - commits: the commit count, if `connection` has a snapshot; nil to read it.
  /// - Returns: whether there was anything to read.
  func catchUp(
    _ connection: Connection, _ versions: ReadVersions, _ state: inout State,
    before end: Int? = nil, commits count: UInt32? = nil
  ) throws -> Bool {
    // Until all initial values are read, the changes of this process have to be noted.
    if state.contents.initial.isEmpty {
      let gone = removed.withLock { removed in
        defer { removed = [] }
        return removed
      }
      for (id, scope) in gone { state.contents.narrow(id, scope) }
    }
    // Before the snapshot, which may be newer: then the next look finds nothing, and that is all.
    let commits = try count ?? commits(connection, versions)
    let isCommit = state.commits != commits
    guard isCommit || state.contents.hasUnread else { return false }
    let changes = try connection.transaction(.deferred) {
      try state.contents.changes($0, hasCommits: isCommit)
    }
    state.commits = commits
    observers.enqueue(changes, isForeign: true, end: end, isCommit: isCommit)
    return true
  }

  /// The thread waits so long for the connection: the removal of the last observer waits with it.
  static let timeLimit = Duration.milliseconds(20)

  /// - Returns: whether there was anything to read since the last look; false as well if another
  ///   thread was using the connection.
  func look(_ storage: Storage) throws -> Bool {
    guard mayBeBehind(storage.versions) else { return false }
    let isThere = try storage.accessInTime(waiting: Self.timeLimit) { connection in
      try state.withLock { state in
        guard state.events != nil, try catchUp(connection, storage.versions, &state) else {
          return false
        }
        state.lastFailure = nil
        return true
      }
    }
    return isThere ?? false
  }

  /// Whether there is anything to read; also where only the connection knows.
  func mayBeBehind(_ versions: ReadVersions) -> Bool {
    guard !versions.isWriting else { return false }
    return state.withLock { state in
      !versions.seesOthers || state.contents.hasUnread
        || state.commits != versions.commits
    }
  }

  func report(_ error: any Error, _ path: String) {
    let error = KeepsakeError(error, path: path)
    let isNew = state.withLock { state in
      defer { state.lastFailure = error.description }
      return state.lastFailure != error.description
    }
    // A lasting failure is reported once.
    if isNew { observers.report(error) }
  }
}

extension Result {
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
