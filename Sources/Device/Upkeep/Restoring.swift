// SPDX-License-Identifier: Apache-2.0
//
// A backup takes a device's place. The order makes each moment whole: the successor is complete and
// on stable storage as a draft; what is in the old file's log is moved into the old file, or
// removed where it is not that file's or the file is damaged; then one rename(2), under the
// exclusive lock on the old file. A process that waits for that lock finds that its file has moved.

public import Foundation
public import KeepsakeValues

extension Device {
  /// Puts a backup in the place of a device's file, which may be missing or damaged. What was
  /// written since the backup is gone from this device; others that have synced with it still have
  /// it, and it wins at the next sync. The device gets a new replica ID.
  ///
  /// - Throws: `KeepsakeError`: `locked` while any program has the file open, `corrupt` for a
  ///   damaged backup; then the file holds what it did. O(n log n) of the entries: every page is
  ///   checked.
  public static func restore(
    at url: URL, from backup: URL, clock: WallClock = .system
  ) throws(KeepsakeError) {
    try restore(at: url.path, from: backup.path, clock: clock)
  }

  package static func restore(
    at path: String, from backup: String, busyTimeout: Duration = defaultBusyTimeout,
    clock: WallClock, identity: ReplicaID = .random()
  ) throws(KeepsakeError) {
    let source = try Device(
      path: backup, access: .readOnly, busyTimeout: busyTimeout, clock: clock)
    let real = Location.real(path)
    try refuseOddTarget(path, real, source)
    do throws(KeepsakeError) {
      let draft = try Draft(of: real)
      try source.copy(into: draft) { copy throws(KeepsakeError) in
        try copy.takeNewID(identity, reason: .restore)
      }
      try Predecessor(path: path, real: real, clock: clock).giveWay(to: draft)
    } catch {
      throw error.path == real ? error.at(path) : error
    }
  }

  private static func refuseOddTarget(
    _ path: String, _ real: String, _ source: Device
  ) throws(KeepsakeError) {
    guard let status = try FileStatus(of: path) else {
      if FileStatus.isSymbolicLink(path) { throw KeepsakeError.missing(path) }
      guard FileStatus.exists(FileStatus.folder(of: real)) else {
        throw Creation.cannotCreate(path, ENOENT)
      }
      return
    }
    guard status.id != source.file else {
      throw KeepsakeError(
        .sameFile, path: path, "this file is named twice", cure: "name each file once")
    }
    guard status.kind == .regular else {
      throw KeepsakeError(
        .cannotCreate, path: path, "this is not a regular file", cure: "name a device's file")
    }
  }
}

/// The file, or the lack of one, whose name a whole one gets.
struct Predecessor {
  /// As it was named, for messages.
  let path: String
  let real: String
  let clock: WallClock

  /// - Parameter aside: another name that it and its log keep; nil for none.
  func giveWay(to draft: Draft, keptAs aside: String? = nil) throws(KeepsakeError) {
    guard let status = try FileStatus(of: real) else {
      try removeLogs()
      guard try draft.publish() else { throw ExclusiveLock.busy(path) }
      return
    }
    var hasUsefulLog = aside == nil
    // Others may write between the move of the log and the lock.
    for _ in 0..<2 {
      let lock = try ExclusiveLock(path: path, real: real)
      if try (FileStatus(of: real + "-wal")?.size ?? 0) == 0 || !hasUsefulLog {
        defer { lock.release() }
        if let aside { return try replace(status, by: draft, keptAs: aside) }
        try removeLogs()
        return try draft.replaceTarget(status)
      }
      lock.release()
      hasUsefulLog = try moveLog()
    }
    throw ExclusiveLock.busy(path)
  }

  private func replace(
    _ status: FileStatus, by draft: Draft, keptAs aside: String
  ) throws(KeepsakeError) {
    do throws(KeepsakeError) {
      // Links alone: a file that is renamed would lack its name until its successor has it.
      for suffix in ["-wal", ""] where link(real + suffix, aside + suffix) != 0 {
        let code = errno
        if suffix.isEmpty || code != ENOENT { throw KeepsakeError(system: code, path: path) }
      }
      try removeLogs()
      try draft.replaceTarget(status)
    } catch {
      // The folder may be all that failed, and the successor in its place.
      guard case .success(let file) = Result(catching: { try FileID(of: real) }), file == status.id
      else { throw error }
      for suffix in ["-wal", ""] {
        _ = link(aside + suffix, real + suffix)
        if FileStatus.exists(real + suffix) { unlink(aside + suffix) }
      }
      throw error
    }
  }

  /// Moves the log into the file, by opening and closing it.
  ///
  /// - Returns: false where it is not the file's, or the file is damaged.
  private func moveLog() throws(KeepsakeError) -> Bool {
    do throws(KeepsakeError) {
      let device = try Device(
        path: real, access: .existing, busyTimeout: Device.defaultBusyTimeout, clock: clock,
        folder: nil, identity: ReplicaID(rawValue: 0))
      // Closing does the same, and cannot say what stops it.
      try device.emptyLog()
      return true
    } catch {
      switch error.code {
      case .corrupt, .notKeepsake, .foreignLog: return false
      default: throw error
      }
    }
  }

  /// Removes what the next opening would apply to the successor: before it has its name, because a
  /// crash may come between.
  private func removeLogs() throws(KeepsakeError) {
    for suffix in ["-wal", "-journal", "-shm"]
    where unlink(real + suffix) != 0 && errno != ENOENT {
      throw KeepsakeError(system: errno, path: path + suffix)
    }
  }
}

extension Device {
  /// Writes every value of another device, such as a backup, as a write of now, and deletes the
  /// keys that it does not have. So they win at the next sync.
  ///
  /// In one transaction. O(entries of both).
  ///
  /// - Returns: how many keys it has changed.
  /// - Throws: `KeepsakeError`, also if the other device is damaged; then nothing was written.
  package func writeAsNew(_ backup: Device) throws(KeepsakeError) -> Int {
    try backup.checkPages()
    try backup.checkSizes()
    return try write { write in
      var others: Set<Address> = []
      try forEachEntry { if !$0.content.isTombstone { others.insert($0.address) } }
      try backup.forEachEntry { entry in
        others.remove(entry.address)
        let (store, key) = (entry.address.store.string, entry.address.key.string)
        // A deletion is written too: another device may have set the key since.
        try write(LocalWrite(store: store, key: key, content: entry.content))
      }
      for address in others.sorted() {
        try write(
          LocalWrite(
            store: address.store.string, key: address.key.string, content: .tombstone))
      }
    }
  }
}
