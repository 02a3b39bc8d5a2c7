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
    var id: Int?
    let result: Result<Bool, KeepsakeError> = Result { () throws(KeepsakeError) in
      try storage.access(waiting: storage.busyHandler.usual) { connection in
        // This process cannot commit before the present contents are known.
        try state.withLock { state in
          let new = register(observer, storage, &state)
          id = new
          return try readContents(for: new, observer.scope, connection, storage, &state)
        }
      }
    }
    if case .success(true) = result {
      DispatchQueue.global().async { [self] in readInitialValues() }
    }
    let added = id ?? state.withLock { state in
      let id = register(observer, storage, &state)
      // The thread reads what is there as soon as it can.
      if let scope = observer.scope { state.contents.widen(id, scope) }
      return id
    }
    return (added, result.failure)
  }

  /// Adds an observer, before its scope: from now on no removal ends the reading of values that it
  /// may rely on.
  private func register(_ observer: Observer, _ storage: Storage, _ state: inout State) -> Int {
    let id = observers.add(observer)
    if state.events == nil { state.events = start(storage.location) }
    return id
  }

  /// Adds the scope of a new observer, and reads what others have committed before.
  ///
  /// - Returns: whether values of it have still to be read.
  private func readContents(
    for id: Int, _ scope: Scope?, _ connection: Connection, _ storage: Storage,
    _ state: inout State
  ) throws -> Bool {
    if let scope {
      let large = Result { try addLarge(scope, of: id, connection, storage, &state) }
      if case .success(true) = large { return true }
      // Its values are read below, or by the next look if this one fails.
      state.contents.widen(id, scope)
      _ = try large.get()
    }
    func catchUp(_ connection: Connection) throws {
      _ = try self.catchUp(connection, storage.versions, &state, before: id)
    }
    guard connection.isInTransaction else {
      try catchUp(connection)
      return false
    }
    // Now, or a commit of another process before the next look would be taken for known. But a
    // snapshot may be older than the count of commits, so that look compares again.
    let commits = state.commits
    defer { state.commits = commits }
    if storage.isReadOnly {
      try catchUp(connection)
    } else {
      // The feed must not know values that this transaction has not committed.
      try storage.snapshot()?.read(catchUp)
    }
    return false
  }

  /// Adds a scope that is large and not known yet; `readInitialValues` reads its values.
  ///
  /// - Returns: false if it was not added.
  private func addLarge(
    _ scope: Scope, of id: Int, _ connection: Connection, _ storage: Storage, _ state: inout State
  ) throws -> Bool {
    // A transaction of a read-only device has a state of its own, which may be an older one.
    guard try !state.contents.covers(scope) && connection.isLarge(scope),
      !(storage.isReadOnly && connection.isInTransaction)
    else { return false }
    for _ in 0..<10 {
      let count = try commits(connection, storage.versions)
      guard let snapshot = storage.snapshot() else { return false }
      guard try commits(connection, storage.versions) == count else { continue }
      try snapshot.read {
        _ = try catchUp($0, storage.versions, &state, before: id, commits: count)
      }
      state.contents.widen(id, InitialValues(scope, snapshot, for: observers))
      return true
    }
    return false
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
