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
/// ended. It is empty, or holds a few words.
///
/// `flock` locks between any two that open the file, of one process or of two. Not every network
/// file system knows it; SQLite's log does not work there either.
struct LockedFile {
  /// A database has at least so many bytes: one page.
  private static let textLimit: Int64 = 512

  private let path: String
  private let descriptor: Int32

  /// Waits for the lock for as long as it takes, and makes the file if it is missing.
  ///
  /// - Parameter mayHoldText: else a file that is not empty is another's.
  init(_ path: String, mayHoldText: Bool) throws(KeepsakeError) {
    while true {
      if let file = try LockedFile(path, waiting: .seconds(3600), mayHoldText: mayHoldText) {
        self = file
        return
      }
    }
  }

  /// Waits for the lock, and makes the file if it is missing.
  ///
  /// - Parameter limit: how long to wait.
  /// - Returns: nil when that was too short.
  init?(
    _ path: String, waiting limit: Duration, mayHoldText: Bool = false
  ) throws(KeepsakeError) {
    let start = ContinuousClock.now
    while true {
      let descriptor = try Self.descriptor(path, below: mayHoldText ? Self.textLimit : 1)
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

  /// Nil for a file that is empty, or holds zeros, as a power failure during `write` can leave.
  func text() throws(KeepsakeError) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(Self.textLimit))
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw KeepsakeError(system: errno, path: path) }
    guard bytes.contains(where: { $0 != 0 }) else { return nil }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// Writes what `text` reads, for good: also after a power failure.
  ///
  /// - Parameter text: less than 512 bytes.
  func write(_ text: String) throws(KeepsakeError) {
    let bytes = Array(text.utf8)
    precondition(bytes.count < Self.textLimit)
    _ = try Creation.syncing(FileStatus.folder(of: path)) { () throws(KeepsakeError) in
      // The one that is locked may belong to another user, and be open to read only.
      let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard file >= 0 else { throw KeepsakeError(system: errno, path: path) }
      defer { close(file) }
      let count = pwrite(file, bytes, bytes.count, 0)
      guard count == bytes.count else {
        throw KeepsakeError(system: count < 0 ? errno : ENOSPC, path: path)
      }
      guard ftruncate(file, off_t(count)) == 0, fsync(file) == 0 else {
        throw KeepsakeError(system: errno, path: path)
      }
      return true
    }
  }

  /// Unlocks the file, and removes it.
  ///
  /// - Parameter keepsFile: whether it stays there, unlocked.
  func remove(keepsFile: Bool = false) {
    if !keepsFile { unlink(path) }
    close(descriptor)
  }

  static func isInTheWay(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .cannotCreate, path: path, "\(path) is in the way of its lock",
      cure: "give that file another name")
  }

  /// Not made anew where it is: in a folder like `/tmp` the kernel refuses that for another user's
  /// file.
  private static func descriptor(
    _ path: String, below size: Int64
  ) throws(KeepsakeError) -> Int32 {
    // Never another device's: closing that one here would drop SQLite's locks.
    if let status = try FileStatus(of: path), status.kind != .regular || status.size >= size {
      throw isInTheWay(path)
    }
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    for flags in [flags, flags | O_CREAT] {
      // Everybody who may read the folder may lock it, as with a lock on the device's file.
      let descriptor = open(path, flags, 0o644)
      if descriptor >= 0 { return descriptor }
      if errno != ENOENT || flags & O_CREAT != 0 {
        throw KeepsakeError(system: errno, path: path)
      }
    }
    throw KeepsakeError(system: ENOENT, path: path)
  }
}
