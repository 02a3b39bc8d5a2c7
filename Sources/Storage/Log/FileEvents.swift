// SPDX-License-Identifier: Apache-2.0
//
// Waiting for writes to a database. The wake-up carries no state: the woken thread looks itself,
// and a needless wake-up costs nothing.

import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Wakes when the log of a database is written, or something happens to its file.
package final class FileEvents: Sendable {
  /// Of inotify(7); -1 where there is none, or no more of them.
  private let descriptor: Int32
  /// What the events of these are called.
  private let names: Set<String>
  /// Written to by `cancel()`; -1 when the process has no more descriptors. Then the end is noticed
  /// at the next timeout.
  private let pipe: (read: Int32, write: Int32)
  private let isCancelled = Atomic<Bool>(false)

  /// Whether the system reports nothing, so that every `wait` may miss a write.
  package var isBlind: Bool { descriptor < 0 }

  package init(path: String) {
    var ends: [Int32] = [-1, -1]
    if Foundation.pipe(&ends) != 0 { ends = [-1, -1] }
    // Child processes must not inherit the pipe: they would keep it open until they end.
    for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    pipe = (ends[0], ends[1])
    let name = String(path.split(separator: "/").last ?? "")
    names = [name, name + "-wal"]
    #if os(Linux)
      // Watching the folder sees the log come and go, and opens no file of the database.
      let events = UInt32(IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
      var descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      if descriptor >= 0,
        inotify_add_watch(descriptor, FileStatus.folder(of: path), events) < 0
      {
        close(descriptor)
        descriptor = -1
      }
      self.descriptor = descriptor
    #else
      descriptor = -1
    #endif
  }

  deinit {
    for end in [pipe.read, pipe.write, descriptor] where end >= 0 { close(end) }
  }

  /// Why `wait` has returned.
  package enum Reason { case event, timeout, cancelled }

  /// Waits for an event, or until `timeout` milliseconds have passed: some file systems send no
  /// event for what other machines write. Where it is blind it waits 50 milliseconds at most.
  package func wait(timeout: Int32) -> Reason {
    // poll(2) ignores negative descriptors.
    var polls = [
      pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    repeat {
      let count = poll(&polls, 2, isBlind ? min(timeout, 50) : timeout)
      guard !isCancelled.load(ordering: .acquiring) else { return .cancelled }
      guard count > 0 else { return .timeout }
    } while !takeAll()
    return .event
  }

  /// Makes this and every later `wait` return at once. Safe in any thread.
  package func cancel() {
    isCancelled.store(true, ordering: .releasing)
    var byte: UInt8 = 0
    // A pipe that is full has been written to, which is all that counts.
    _ = write(pipe.write, &byte, 1)
  }

  /// Takes all events that are there.
  ///
  /// - Returns: whether one of them is about the database: its folder may be a busy one.
  package func takeAll() -> Bool {
    var isOurs = false
    #if os(Linux)
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
        buffer.withUnsafeBytes { bytes in
          var offset = 0
          while offset < count {
            let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let start = offset + MemoryLayout<inotify_event>.size
            offset = start + Int(event.len)
            let name = String(decoding: bytes[start..<offset].prefix { $0 != 0 }, as: UTF8.self)
            // An event without a name says that the queue has overflowed.
            isOurs = isOurs || name.isEmpty || names.contains(name)
          }
        }
      }
    #endif
    return isOurs
  }
}
