// SPDX-License-Identifier: Apache-2.0
//
// When a device's log is moved into its file: after a commit that made it long, on a thread of its
// own, so that the setter does not wait. Where that cannot keep up, the thread that commits does
// it, so that the log does not grow without bound.

import CSQLite
import Foundation
import KeepsakeValues
import Synchronization

/// The checkpoints of one file, as one `Storage` runs them.
///
/// It does not retain the storage, which stops it before it closes.
package final class Checkpoints: Sendable {
  /// Frames of the log, each one page, from which on it is moved.
  package static let usualLimit = 1000
  /// How long a checkpoint waits for other writers; the next one is not far.
  private static let timeLimit: Duration = .milliseconds(100)

  private struct State {
    /// The log's length when it was moved last, or was to be.
    var tried = 0
    var isQueued = false
    var failure: KeepsakeError.Code?
  }

  private let location: Location
  /// Of the storage: it waits without a limit for what this process does itself.
  private let writers: BusyHandler
  private let names: NameCheck?
  private let report: @Sendable (KeepsakeError) -> Void
  /// Frames in the log after the last commit through the storage's connection.
  private let length = Atomic<Int>(0)
  private let limit = Atomic<Int>(usualLimit)
  private let state = Mutex(State())
  /// Whether the storage is closed. Held while a checkpoint runs.
  private let isStopped = Mutex(false)

  init(
    _ location: Location, _ writers: BusyHandler, _ names: NameCheck?,
    _ report: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    (self.location, self.writers, self.names, self.report) = (location, writers, names, report)
  }

  /// Follows every commit through this connection, which must not outlive this object.
  func follow(_ connection: Connection) {
    sqlite3_wal_hook(
      connection.handle,
      { context, _, name, count in
        // A commit to an attached file is not ours to follow.
        guard let context, let name, strcmp(name, "main") == 0 else { return SQLITE_OK }
        Unmanaged<Checkpoints>.fromOpaque(context).takeUnretainedValue()
          .length.store(Int(count), ordering: .relaxed)
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// How long the log may get; longer while one transaction after the other changes the same pages.
  package func limit(to frames: Int) { limit.store(frames, ordering: .relaxed) }

  /// After a commit, outside of the connection.
  package func runIfDue() {
    let (length, limit) = (length.load(ordering: .relaxed), limit.load(ordering: .relaxed))
    guard length >= limit, isDue(length, step: limit / 8) else { return }
    guard length < 4 * limit else { return run() }
    let isQueued = state.withLock { state in
      defer { state.isQueued = true }
      return state.isQueued
    }
    if !isQueued { DispatchQueue.global(qos: .utility).async { self.run() } }
  }

  /// Not after each commit where a reader holds the log back.
  private func isDue(_ length: Int, step: Int) -> Bool {
    state.withLock { state in
      guard length < state.tried || length >= state.tried + step else { return false }
      state.tried = length
      return true
    }
  }

  package func run() {
    let error: KeepsakeError? = isStopped.withLock { isStopped in
      state.withLock { $0.isQueued = false }
      guard !isStopped else { return nil }
      do throws(KeepsakeError) {
        try Checkpoint.run(location, waiting: Self.timeLimit, writers: writers, names)
        state.withLock { $0.failure = nil }
        return nil
      } catch {
        return error
      }
    }
    // Without the lock: the handler may write, or close the file.
    if let error { tell(error) }
  }

  /// Reports each kind of failure once, until a checkpoint succeeds. A busy file is no failure.
  private func tell(_ error: KeepsakeError) {
    guard error.code != .locked else { return }
    let isNew = state.withLock { state in
      defer { state.failure = error.code }
      return state.failure != error.code
    }
    if isNew { report(error) }
  }

  /// Waits for a checkpoint that runs, and prevents others.
  func stop() { isStopped.withLock { $0 = true } }
}
