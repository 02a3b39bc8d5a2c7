// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice

/// A file without a name, for what is too much for memory: no other process finds it, and it goes
/// with this one.
final class TemporaryFile {
  private let descriptor: Int32
  private(set) var size = 0

  /// - Throws: `KeepsakeError` when the system's temporary folder is full, or cannot be written.
  init() throws {
    descriptor = try withExtendedLifetime(TemporaryFolder()) { folder in
      let first = open(folder.path + "/spool", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard (0..<3).contains(first) else { return first }
      // Where standard output is closed this would become it.
      defer { close(first) }
      return fcntl(first, F_DUPFD_CLOEXEC, 3)
    }
    guard descriptor >= 0 else { throw Self.failure(errno) }
  }

  deinit { close(descriptor) }

  private static func failure(_ code: Int32) -> KeepsakeError {
    KeepsakeError(system: code, path: TemporaryFolder.parent)
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = pwrite(descriptor, start, rest.count, off_t(size))
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        throw Self.failure(count < 0 ? errno : EIO)
      }
      size += count
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Fills `target` with what was written at `offset`.
  func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    var (rest, offset) = (target, offset)
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = pread(descriptor, start, rest.count, off_t(offset))
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        throw Self.failure(count < 0 ? errno : EIO)
      }
      offset += count
      rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...])
    }
  }
}
