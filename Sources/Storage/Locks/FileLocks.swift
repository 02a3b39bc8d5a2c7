// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A lock for each file, so that what takes long with one, as on a slow disk, holds up no other.
package struct FileLocks: Sendable {
  private final class Lock: Sendable {
    let mutex = Mutex(())
  }

  /// Files whose inodes differ by a multiple of their number share one.
  private let locks = (0..<64).map { _ in Lock() }

  package init() {}

  package func withLock<Value, Failure: Error>(
    of file: FileID, _ body: () throws(Failure) -> sending Value
  ) throws(Failure) -> sending Value {
    try locks[Int(file.inode % UInt64(locks.count))].mutex.withLock { _ throws(Failure) in
      try body()
    }
  }
}
