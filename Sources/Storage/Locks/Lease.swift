// SPDX-License-Identifier: Apache-2.0
//
// One merge, compaction or repair of a file at a time, whichever process it is in. Writes of
// applications take no part in this.
//
// The order in which a thread takes what it needs, so that no two wait for each other:
// 1. the turn, of which a process has one: devices in memory have no file to lease;
// 2. the leases of all files that it is going to write, by `FileID`;
// 3. a device's connection (its lock);
// 4. SQLite's locks.
// A thread that has a connection already, as within a transaction, waits neither for 1 nor for 2.
// Observers run when 1 to 4 are free again, so they may wait for a thread that merges.
//
// A lease is a locked file beside the device's own, `<file>.lease`, from the first lease until the
// device is closed: a file that comes and goes would change the folder, and then each commit checks
// all names (`NameCheck`). The kernel takes the lock back when its process ends, however it does;
// what is left then is an empty file, which the next lease uses.

import Foundation
import KeepsakeValues

package enum Lease {
  private static let lock = RecursiveLock()
  private static let turn = Turn()

  /// The leased files of the thread that has the turn, and its work for when the turn is over.
  // Sendable: only used by that thread.
  private final class Turn: @unchecked Sendable {
    var files: Set<FileID> = []
    var waiting: [(owner: AnyObject, body: () -> Void)] = []
  }

  /// Waits for the present lease of this process; returns at once on the thread that holds it.
  package static func waitUntilOver() {
    if lock.enter(waiting: nil) == true { lock.leave() }
  }

  /// Runs `body` while nothing else merges, compacts or repairs these files, then what `afterwards`
  /// put off.
  ///
  /// - Parameters:
  ///   - files: the writable ones are leased.
  ///   - limit: how long to wait for this process; for others each busy timeout counts.
  ///   - joins: whether it may be part of what this thread has leases for.
  /// - Throws: what `body` throws, or `KeepsakeError` with `locked`.
  package static func hold<Value>(
    _ files: [Storage], waiting limit: Duration? = nil, joins: Bool = false,
    _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    guard let isOutermost = lock.enter(waiting: limit), isOutermost || joins else {
      throw busy(files)
    }
    defer { if isOutermost { end() } }
    var leased: [(FileID, Storage)] = []
    defer {
      for (file, storage) in leased.reversed() {
        turn.files.remove(file)
        storage.leaseFile.withLock { $0?.unlock() }
      }
    }
    let writable = files.compactMap { storage in
      storage.isReadOnly ? nil : storage.file.map { ($0, storage) }
    }
    for (file, storage) in writable.sorted(by: { $0.0 < $1.0 }) where !turn.files.contains(file) {
      try lease(storage)
      leased.append((file, storage))
      turn.files.insert(file)
    }
    return try body()
  }

  private static func end() {
    let waiting = turn.waiting
    turn.waiting = []
    lock.leave()
    for (_, body) in waiting { body() }
  }

  /// Runs `body` when the leases of this thread are over, once for each owner; at once without.
  package static func afterwards(_ owner: AnyObject, _ body: @escaping () -> Void) {
    guard lock.isMine else { return body() }
    if !turn.waiting.contains(where: { $0.owner === owner }) { turn.waiting.append((owner, body)) }
  }

  private static func lease(_ storage: Storage) throws(KeepsakeError) {
    let kept = storage.leaseFile.withLock { file in
      defer { file = nil }
      return file
    }
    do throws(KeepsakeError) {
      let lease = try LockedFile(
        storage.location.realPath + ".lease", waiting: storage.leaseTimeout, kept)
      guard let lease else { throw busy(storage.location.path) }
      storage.leaseFile.withLock { $0 = lease }
    } catch {
      throw error.at(storage.location.path)
    }
  }

  private static func busy(_ files: [Storage]) -> KeepsakeError {
    guard lock.isMine else { return busy(files[0].location.path) }
    return KeepsakeError(
      .locked, path: files[0].location.path, "a merge is under way in this thread",
      cure: "try again when it has returned")
  }

  private static func busy(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .locked, path: path, "another merge, compaction or repair of this file is under way",
      cure: "try again when it is done")
  }
}

extension Storage {
  /// How long this thread may wait for a lease, whose holder may wait for our connection.
  package var leaseTimeout: Duration {
    versions.isInOurTransaction ? .zero : busyHandler.usual
  }
}
