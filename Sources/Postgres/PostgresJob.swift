// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  /// A job, and what became of it so far.
  // Sendable: one thread at a time has it.
  final class PostgresJob: @unchecked Sendable {
    private let job: HubJob
    let deadline: Date
    /// Whether it was called back.
    private(set) var isDone = false
    /// What the last run of the rule changes.
    private(set) var change: HubChange?

    init(_ job: HubJob, deadline: Date) { (self.job, self.deadline) = (job, deadline) }

    var query: HubQuery { job.query }
    var fastPush: HubFastPush? { job.fastPush }

    func decide(_ state: HubState) { change = job.decide(state) }

    func take(_ mark: HubMark) { job.take(mark) }

    func end() {
      isDone = true
      job.end()
    }

    func fail(_ error: any Error) {
      isDone = true
      job.fail(error)
    }
  }
#endif
