// SPDX-License-Identifier: Apache-2.0
//
// One file, one connection, one queue. Waiting jobs are committed together (`JobBatch`), so that
// many pushes share one wait for the disk.

import Dispatch
import KeepsakeHubMigrations
package import KeepsakeHubServer
package import KeepsakeStorage
import Synchronization

/// The accounts of a hub in one SQLite file.
///
/// No other program may have the file open. A commit is safe from a power failure before it is
/// acknowledged, if the disk executes flushes (`synchronous = FULL`).
package final class HubFile: HubStore {
  private struct WaitingJobs {
    var jobs: [HubJob] = []
    var onChange: (@Sendable (_ account: Int64, _ newest: HubMark) -> Void)?
    /// Whether a commit is scheduled on the queue.
    var isAwake = false
    var isClosed = false
  }

  /// The maximum number of waiting jobs, which take a second or two. Beyond it a device is refused,
  /// and retries later.
  private static let limit = 2_000

  private let path: String
  private let connection: SoleConnection
  private let report: @Sendable (KeepsakeError) -> Void
  private let queue = DispatchQueue(label: "keepsake.hub.file")
  /// Held for a few instructions; no job and no observer is called under it.
  private let state = Mutex(WaitingJobs())

  /// Opens a hub's file, and creates it if it is missing.
  ///
  /// - Parameters:
  ///   - path: the path of the file; its log is in the same folder.
  ///   - busyTimeout: how long to wait for another program that has it open, such as a hub that
  ///     ends.
  ///   - migrations: the text of each, in order.
  ///   - report: receives errors of checkpoints, on the file's queue. No data is lost then.
  /// - Throws: `KeepsakeError`; then the file is as it was.
  package init(
    path: String, busyTimeout: Duration = .seconds(2), migrations: [String] = HubMigrations.all,
    report: @escaping @Sendable (KeepsakeError) -> Void = { _ in }
  ) throws(KeepsakeError) {
    (self.path, self.report) = (path, report)
    connection = try HubSchema.open(path, busyTimeout, migrations)
  }

  deinit { end() }

  package func run<Result: Sendable>(
    _ work: HubWork<Result>,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    let job = HubJob(work, done)
    let problem = state.withLock { state -> String? in
      guard !state.isClosed else { return "the hub ends" }
      guard state.jobs.count < Self.limit else { return "too much waits for the file" }
      state.jobs.append(job)
      if !state.isAwake { queue.async { self.commitAll() } }
      state.isAwake = true
      return nil
    }
    if let problem { job.end(HubStoreError.unavailable(problem)) }
  }

  private func commitAll() {
    var jobs = state.withLock { state in
      defer { (state.jobs, state.isAwake) = ([], false) }
      return state.jobs[...]
    }
    while !jobs.isEmpty {
      var marks: [Int64: HubMark] = [:]
      jobs = jobs.dropFirst(JobBatch(jobs, connection).run(&marks))
      let onChange = state.withLock(\.onChange)
      for (account, newest) in marks { onChange?(account, newest) }
      checkpoint(from: 4_000)
    }
  }

  private func checkpoint(from pages: Int32) {
    do {
      try connection.checkpoint(from: pages)
    } catch {
      report(KeepsakeError(error, path: path))
    }
  }

  package func observe(
    _ onChange: @escaping @Sendable (_ account: Int64, _ newest: HubMark) -> Void
  ) {
    state.withLock { $0.onChange = onChange }
  }

  /// Must not be called by a rule.
  package func close() {
    state.withLock { $0.isClosed = true }
    queue.sync { end() }
  }

  private func end() {
    checkpoint(from: 1)
    connection.close()
  }
}
