// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  /// What waits for a connection. Jobs of one account run one after the other, so that those of an
  /// account that many ask wait here, and not on all connections for the lock of its row.
  // Sendable: everything but the condition is used with it locked.
  final class JobQueue: @unchecked Sendable {
    struct Job {
      /// Nil for the directory's.
      let account: Int64?
      let deadline: Date
      /// Runs it on a connection; nil when it is done, or why it is not.
      let run: (PostgresConnection) -> PostgresError?
      let fail: (HubDatabaseError) -> Void
    }

    private let condition = NSCondition()
    private var jobs: [Job] = []
    private var busy: Set<Int64> = []
    private var isClosed = false
    private var threads = 0
    private let limit = 10_000

    func addThread() { condition.withLock { threads += 1 } }

    func endThread() {
      condition.withLock {
        threads -= 1
        condition.broadcast()
      }
    }

    func add(_ job: Job) {
      let problem: String? = condition.withLock {
        if isClosed { return "the hub ends" }
        if jobs.count >= limit { return "too much waits for the database" }
        jobs.append(job)
        condition.signal()
        return nil
      }
      if let problem { job.fail(.unavailable(problem)) }
    }

    /// Waits for a job that may run; nil at the end.
    func next() -> Job? {
      condition.withLock {
        while true {
          if let place = jobs.firstIndex(where: { !($0.account.map(busy.contains) ?? false) }) {
            let job = jobs.remove(at: place)
            if let account = job.account { busy.insert(account) }
            return job
          }
          if isClosed, jobs.isEmpty { return nil }
          condition.wait()
        }
      }
    }

    func finish(_ job: Job) {
      guard let account = job.account else { return }
      condition.withLock {
        busy.remove(account)
        condition.broadcast()
      }
    }

    /// Takes out what has waited too long.
    func overdue() -> [Job] {
      condition.withLock {
        let now = Date()
        let late = jobs.filter { $0.deadline < now }
        jobs.removeAll { $0.deadline < now }
        return late
      }
    }

    func close() {
      condition.withLock {
        isClosed = true
        condition.broadcast()
      }
    }

    func waitForEnd() { condition.withLock { while threads > 0 { condition.wait() } } }

    /// Pauses a thread; shorter when the queue is closed.
    func pause(_ seconds: TimeInterval) {
      condition.withLock {
        guard !isClosed else { return }
        _ = condition.wait(until: Date(timeIntervalSinceNow: seconds))
      }
    }

    var isEnding: Bool { condition.withLock { isClosed } }
  }
#endif
