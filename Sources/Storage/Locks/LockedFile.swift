// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues

/// How an attempt to lock an open file or folder has ended; unless it is taken, it is closed.
enum FileLock {
  case taken
  /// Another process, or another thread, has the lock.
  case busy
  /// The path does not lead to it any more: the process that had the lock may have removed it.
  case lost

  init(_ descriptor: Int32, _ path: String) throws(KeepsakeError) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      guard code == EWOULDBLOCK || code == EINTR else {
        throw KeepsakeError(system: code, path: path)
      }
      self = code == EINTR ? .lost : .busy
      return
    }
    var (mine, present) = (stat(), stat())
    let isStill =
      fstat(descriptor, &mine) == 0 && stat(path, &present) == 0
      && mine.st_ino == present.st_ino && mine.st_dev == present.st_dev
    if !isStill { close(descriptor) }
    self = isStill ? .taken : .lost
  }
}

/// A file that is locked while this holds it, and by the kernel no longer when the process has
/// ended. It is empty.
///
/// `flock` locks between any two that open the file, of one process or of two. Not every network
/// file system knows it; SQLite's log does not work there either.
package struct LockedFile {
  private let path: String
  private let descriptor: Int32

  /// Waits for the lock, and makes the file if it is missing.
  ///
  /// - Parameters:
  ///   - limit: how long to wait.
  ///   - kept: the same file, unlocked; it is locked, or closed if that fails.
  /// - Returns: nil when the limit was too short.
  package init?(
    _ path: String, waiting limit: Duration, _ kept: LockedFile? = nil
  ) throws(KeepsakeError) {
    let start = ContinuousClock.now
    var kept = kept
    while true {
      let descriptor = if let kept { kept.descriptor } else { try Self.descriptor(path) }
      kept = nil
      switch try FileLock(descriptor, path) {
      case .taken:
        (self.path, self.descriptor) = (path, descriptor)
        return
      case .lost: continue
      case .busy: if start.duration(to: .now) >= limit { return nil }
      }
      usleep(500)
    }
  }

  /// Unlocks the file, to be locked again.
  func unlock() { flock(descriptor, LOCK_UN) }

  /// Closes an unlocked file, and removes it unless another process has locked it.
  func removeIfFree() throws(KeepsakeError) {
    if try FileLock(descriptor, path) == .taken { remove() }
  }

  /// Removes the file, and unlocks it.
  package func remove() {
    unlink(path)
    close(descriptor)
  }

  /// Opens the file without `O_CREAT` if it exists: in a folder like `/tmp` the kernel refuses that
  /// flag for another user's file.
  private static func descriptor(_ path: String) throws(KeepsakeError) -> Int32 {
    // Never another device's: closing that one here would drop SQLite's locks.
    if let status = try FileStatus(of: path), status.kind != .regular || status.size > 0 {
      throw KeepsakeError(
        .cannotCreate, path: path, "\(path) is in the way of its lock",
        cure: "give that file another name")
    }
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    for flags in [flags, flags | O_CREAT] {
      // Each user that may read the folder may lock it, as with a lock on the device's file.
      let descriptor = open(path, flags, 0o644)
      if descriptor >= 0 { return descriptor }
      if errno != ENOENT || flags & O_CREAT != 0 {
        throw KeepsakeError(system: errno, path: path)
      }
    }
    throw KeepsakeError(system: ENOENT, path: path)
  }
}
