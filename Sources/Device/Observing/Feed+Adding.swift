// SPDX-License-Identifier: Apache-2.0
//
// Adds an observer at one state of the file: it gets what is committed after that, and the values
// before are those of that state.

import Foundation
import KeepsakeStorage
import KeepsakeValues

extension Feed {
  /// - Parameter own: the storage of the caller's handle, to look through if no other one writes.
  /// - Returns: the observer's number, and why changes of other processes cannot be read now. The
  ///   caller reports it when nothing is locked.
  func add(_ observer: Observer, on own: Storage) -> (id: Int, failure: KeepsakeError?) {
    let storage = storage ?? own
    guard hasOthers(storage) else {
      let failure = storage.file.map { _ in KeepsakeError.frozen(storage.location.path) }
      return (observers.add(observer), failure)
    }
    var (id, failure): (Int?, KeepsakeError?)
    var isLarge = false
    do {
      try storage.access(waiting: storage.busyHandler.usual) { connection in
        try state.withLock { state in
          // This process cannot commit before the present contents are known. The observer is added
          // first: from now on no removal cancels the reading of values that it may rely on.
          let new = observers.add(observer)
          id = new
          if state.events == nil { state.events = start(storage.location) }
          state.contents.forgetCancelled()
          let large = try widen(new, observer.scope, connection, storage, &state)
          func catchUp(_ connection: Connection) throws {
            _ = try self.catchUp(
              connection, storage.versions, &state, before: new, commits: large?.commits)
          }
          if let large {
            isLarge = true
            let result = Result { try large.snapshot.read(catchUp) }
            return try widen(new, large.scope, large.snapshot, after: result, &state)
          }
          guard connection.isInTransaction else { return try catchUp(connection) }
          // Now, or a commit of another process before the next look would be taken for known. But
          // a snapshot may be older than the count of commits, so that look compares again.
          let commits = state.commits
          defer { state.commits = commits }
          if storage.isReadOnly {
            try catchUp(connection)
          } else {
            // The feed must not know values that this transaction has not committed.
            try storage.snapshot()?.read(catchUp)
          }
        }
      }
    } catch {
      failure = error
    }
    if isLarge { DispatchQueue.global().async { [self] in readInitialValues() } }
    guard let id else {
      return state.withLock { state in
        let id = observers.add(observer)
        if state.events == nil { state.events = start(storage.location) }
        // The thread reads what is there as soon as it can.
        if let scope = observer.scope { state.contents.widen(id, scope) }
        return (id, failure)
      }
    }
    return (id, failure)
  }

  /// A scope that is large, and a snapshot of the present state.
  private struct LargeScope {
    let scope: Scope
    let snapshot: Snapshot
    /// The file's commit count.
    let commits: UInt32
  }

  /// Adds an observer's scope, unless it is large and its values are not known.
  ///
  /// - Returns: the large scope, which is not added; nil if it was added.
  private func widen(
    _ id: Int, _ scope: Scope?, _ connection: Connection, _ storage: Storage, _ state: inout State
  ) throws -> LargeScope? {
    guard let scope else { return nil }
    do {
      if let large = try snapshot(for: scope, connection, storage, state) { return large }
    } catch {
      state.contents.widen(id, scope)
      throw error
    }
    state.contents.widen(id, scope)
    return nil
  }

  private func snapshot(
    for scope: Scope, _ connection: Connection, _ storage: Storage, _ state: State
  ) throws -> LargeScope? {
    // A transaction of a read-only device has a state of its own, which may be an older one.
    guard try !state.contents.covers(scope) && connection.isLarge(scope),
      !(storage.isReadOnly && connection.isInTransaction)
    else { return nil }
    for _ in 0..<10 {
      let count = try commits(connection, storage.versions)
      guard let snapshot = storage.snapshot() else { return nil }
      if try commits(connection, storage.versions) == count {
        return LargeScope(scope: scope, snapshot: snapshot, commits: count)
      }
    }
    return nil
  }

  /// Adds a large scope, whose values `readInitialValues` reads.
  ///
  /// - Parameter result: of looking at the snapshot; if that has failed, the scope is read later.
  private func widen(
    _ id: Int, _ scope: Scope, _ snapshot: Snapshot, after result: Result<Void, any Error>,
    _ state: inout State
  ) throws {
    if case .failure(let error) = result {
      state.contents.widen(id, scope)
      throw error
    }
    let values = InitialValues(scope, snapshot)
    state.contents.widen(id, values)
    pending.withLock { $0.append(values) }
  }
}

extension KeepsakeError {
  /// The error if commits of other processes cannot be seen.
  fileprivate static func frozen(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .permissionDenied, path: path,
      "in a read-only folder the changes that other processes make cannot be observed",
      cure: "open the file as a user who may write there")
  }
}
