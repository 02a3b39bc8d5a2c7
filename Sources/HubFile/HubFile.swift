// SPDX-License-Identifier: Apache-2.0
//
// One file, one connection, one thread. Work waits in a queue; the thread takes what waits, and
// commits it together (`Batch.swift`), so that many pushes share one wait for the disk.

import Foundation
package import KeepsakeHubServer
package import KeepsakeStorage
import Synchronization

/// The accounts of a hub in one SQLite file.
///
/// Nothing else may have the file open meanwhile. A commit is safe from a power cut before it is
/// acknowledged, as far as the disk keeps its word (`synchronous = FULL`).
package final class HubFile: HubStore {
  package let name: String
  private let queue: WorkQueue

  /// Opens a hub's file, and makes it when it is missing.
  ///
  /// - Parameters:
  ///   - path: of the file; its log stands beside it.
  ///   - busyTimeout: how long to wait for another program that has it open, as a hub that ends.
  ///   - report: called on the file's thread with what fails while nobody waits for it: moving the
  ///     log into the file. Nothing is lost then.
  /// - Throws: `KeepsakeError`; then the file is as it was.
  package init(
    path: String, busyTimeout: Duration = .seconds(2),
    report: @escaping @Sendable (KeepsakeError) -> Void = { _ in }
  ) throws(KeepsakeError) {
    name = path
    let connection = try HubSchema.open(path, busyTimeout)
    let queue = WorkQueue()
    self.queue = queue
    let thread = Thread {
      while let pieces = queue.next() {
        let batch = Batch(pieces)
        queue.putBack(batch.run(on: connection))
        let changes = batch.end()
        queue.announce(changes)
        do {
          try connection.checkpoint(from: 4_000)
        } catch {
          report(KeepsakeError(error, path: path))
        }
      }
      do {
        try connection.checkpoint(from: 1)
      } catch {
        report(KeepsakeError(error, path: path))
      }
      connection.close()
      queue.finish()
    }
    thread.name = "hub file"
    thread.start()
  }

  /// The thread goes on with what was submitted, and ends.
  deinit { queue.close() }

  package func run<Result: Sendable>(
    _ work: HubWork<Result>,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    queue.add(Piece(work, done), wakes: work.isUrgent)
  }

  package func observe(
    watched: @escaping @Sendable () -> [Int64],
    _ onChange: @escaping @Sendable (_ account: Int64, _ newest: HubMark) -> Void
  ) {
    queue.observe(onChange)
  }

  /// Must not be called by a rule.
  package func close() {
    queue.close()
    queue.waitForEnd()
  }
}
