// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  /// What waits for a connection. Jobs of one account run one after the other, so that those of an
  /// account that many ask wait here, and not on all connections for the lock of its row.
  // Sendable: everything but the conditions is used with the first one locked.
  final class JobQueue: @unchecked Sendable {
    struct Job {
      /// Nil for the directory's.
      let account: Int64?
      let deadline: Date
      /// Runs it on a connection; nil when it is done, or why it is not.
      let run: (PostgresConnection) -> PostgresError?
      let fail: (HubDatabaseError) -> Void
    }

    /// Told when there is something to run, or nothing any more.
    private let condition = NSCondition()
    /// Told at the end alone: who waits for the end, or for a while, takes no word of a job away.
    private let ending = NSCondition()
    private var jobs: [Job] = []
    private var busy: Set<Int64> = []
    private var isClosed = false
    private var threads = 0
    private let limit = 10_000

    func addThread() { ending.withLock { threads += 1 } }

    func endThread() {
      ending.withLock {
        threads -= 1
        ending.broadcast()
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
    ///
    /// - Parameter last: the job that the thread has run before, so that others of its account may
    ///   run now.
    func next(after last: Job?) -> Job? {
      condition.withLock {
        if let account = last?.account { busy.remove(account) }
        while true {
          if let place = jobs.firstIndex(where: { !($0.account.map(busy.contains) ?? false) }) {
            let job = jobs.remove(at: place)
            if let account = job.account { busy.insert(account) }
            // Another one may have become free with the last one's account.
            if !jobs.isEmpty { condition.signal() }
            return job
          }
          if isClosed, jobs.isEmpty {
            condition.broadcast()
            return nil
          }
          condition.wait()
        }
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
      ending.withLock { ending.broadcast() }
    }

    func waitForEnd() { ending.withLock { while threads > 0 { ending.wait() } } }

    /// Pauses a thread; shorter when the queue is closed.
    func pause(_ seconds: TimeInterval) {
      let end = Date(timeIntervalSinceNow: seconds)
      ending.withLock { while !isEnding, ending.wait(until: end) {} }
    }

    var isEnding: Bool { condition.withLock { isClosed } }
  }
#endif
