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
          // This process cannot commit before the present contents are known.
          let large = try snapshot(for: observer.scope, connection, storage, state)
          let new = add(observer, isLarge: large != nil, storage, &state)
          id = new
          func catchUp(_ connection: Connection) throws {
            _ = try self.catchUp(
              connection, storage.versions, &state, before: new, commits: large?.commits)
          }
          if let large, let scope = observer.scope {
            isLarge = true
            let result = Result { try large.snapshot.read(catchUp) }
            return try widen(new, scope, large.snapshot, after: result, &state)
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
    // Otherwise the thread reads what is there as soon as it can.
    return (id ?? state.withLock { add(observer, isLarge: false, storage, &$0) }, failure)
  }

  private func add(
    _ observer: Observer, isLarge: Bool, _ storage: Storage, _ state: inout State
  ) -> Int {
    let id = observers.add(observer)
    if let scope = observer.scope, !isLarge { state.contents.widen(id, scope) }
    if state.events == nil { state.events = start(storage.location) }
    return id
  }

  /// A snapshot of the present state, if a scope is large and its values are not known; and the
  /// file's commit count.
  private func snapshot(
    for scope: Scope?, _ connection: Connection, _ storage: Storage, _ state: State
  ) throws -> (snapshot: Snapshot, commits: UInt32)? {
    // A transaction of a read-only device has a state of its own, which may be an older one.
    guard let scope, !state.contents.covers(scope), try connection.isLarge(scope),
      !(storage.isReadOnly && connection.isInTransaction)
    else { return nil }
    for _ in 0..<10 {
      let count = try commits(connection, storage.versions)
      guard let snapshot = storage.snapshot() else { return nil }
      if try commits(connection, storage.versions) == count { return (snapshot, count) }
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
