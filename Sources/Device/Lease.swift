// SPDX-License-Identifier: Apache-2.0
//
// One merge, compaction or repair of a file at a time, whichever process it is in. Writes of
// applications take no part in this.
//
// The order in which a thread takes what it needs, so that no two wait for each other:
// 1. the turn, of which a process has one: devices in memory have no file to lease;
// 2. the leases of all files that it is going to write, by `FileID`;
// 3. a device's connection (GRDB's queue);
// 4. SQLite's locks.
// A thread that has a connection already, as within a transaction, waits neither for 1 nor for 2.
// Observers run when 1 to 4 are free again, so they may wait for a thread that merges.
//
// A lease is a locked file beside the device's own, `<file>.lease`. The kernel takes the lock back
// when its process ends, however it does; what is left then is an empty file, which the next lease
// uses and removes.

import Foundation
import KeepsakeValues

package enum Lease {
  private static let turn = Turn()

  /// Whether this thread has leases.
  package static var isMine: Bool { turn.isMine }

  /// Returns when what leases files in this process now is over; at once within it.
  package static func waitUntilOver() { turn.waitUntilOver() }

  /// Runs `body` while nothing else merges, compacts or repairs these devices, then notifies the
  /// observers of what it has written.
  ///
  /// - Parameters:
  ///   - devices: those of them that can be written.
  ///   - limit: how long to wait for this process; for others each device's busy timeout counts.
  ///   - joins: whether it may be part of what this thread has leases for.
  /// - Throws: what `body` throws, or `KeepsakeError` with `locked`.
  package static func hold<Value>(
    _ devices: [Device], waiting limit: Duration? = nil, joins: Bool = false,
    _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    let isNested = turn.isMine
    guard isNested ? joins : turn.begin(waiting: limit) else { throw busy(devices) }
    defer { if !isNested { for shared in turn.end() { shared.tellObservers() } } }
    var leases: [(FileID, LockedFile)] = []
    defer {
      for (file, lease) in leases.reversed() {
        turn.files.remove(file)
        lease.remove()
      }
    }
    for (file, core) in files(of: devices) where !turn.files.contains(file) {
      leases.append((file, try lease(core)))
      turn.files.insert(file)
    }
    return try body()
  }

  /// Notifies the observers of a commit of this thread, within leases when they are over.
  static func tellObservers(_ shared: SharedState) {
    guard turn.isMine else { return shared.tellObservers() }
    if !turn.waiting.contains(where: { $0 === shared }) { turn.waiting.append(shared) }
  }

  private static func files(of devices: [Device]) -> [(FileID, Core)] {
    devices.map(\.core).compactMap { core in
      core.isReadOnly ? nil : core.file.map { ($0, core) }
    }.sorted { $0.0 < $1.0 }
  }

  private static func lease(_ core: Core) throws(KeepsakeError) -> LockedFile {
    do throws(KeepsakeError) {
      let lease = try LockedFile(core.location.realPath + ".lease", waiting: core.leaseTimeout)
      guard let lease else { throw busy(core.location.path) }
      return lease
    } catch {
      throw error.at(core.location.path)
    }
  }

  private static func busy(_ devices: [Device]) -> KeepsakeError {
    guard turn.isMine else { return busy(devices[0].path) }
    return KeepsakeError(
      .locked, path: devices[0].path, "a merge is under way in this thread",
      cure: "try again when it has returned")
  }

  private static func busy(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .locked, path: path, "another merge, compaction or repair of this file is under way",
      cure: "try again when it is done")
  }
}

extension Device {
  /// As `Lease.hold`, waiting for other merges of this process a minute, or for the busy timeout if
  /// that is longer; within a transaction not at all.
  package func leased<Value>(
    joins: Bool = false, _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    let limit = core.leaseTimeout
    return try Lease.hold(
      [self], waiting: limit == .zero ? limit : max(limit, .seconds(60)), joins: joins, body)
  }
}

extension Core {
  /// How long this thread may wait for a lease: what holds one may wait for our connection.
  fileprivate var leaseTimeout: Duration {
    moments.isInOurTransaction ? .zero : patience.usual
  }
}
