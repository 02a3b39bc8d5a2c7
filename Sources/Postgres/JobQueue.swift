// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  /// Jobs that wait for a connection. A thread takes several at once, which share a transaction:
  /// either jobs that read, or jobs that change accounts, at most one for each account.
  // Sendable: everything else is used with `condition` locked.
  final class JobQueue: @unchecked Sendable {
    /// Broadcast when jobs may have become ready, and when the queue is closed.
    private let condition = NSCondition()
    private var jobs: [HubJob] = []
    private var busy: Set<Int64> = []
    private var isClosed = false
    /// Counts connections that did not answer in time.
    private var timeouts = 0
    private let limit = 10_000
    /// The maximum number of jobs that share a transaction.
    private static let (mostWriting, mostReading) = (64, 16)

    func add(_ job: HubJob) {
      let problem: String? = condition.withLock {
        if isClosed { return "the hub ends" }
        if jobs.count >= limit { return "too much waits for the database" }
        jobs.append(job)
        // Not every thread runs every job, so wake all.
        condition.broadcast()
        return nil
      }
      if let problem { job.end(HubStoreError.unavailable(problem)) }
    }

    /// Waits for jobs that may run. Returns none at the end.
    ///
    /// - Parameters:
    ///   - last: the jobs that the thread has finished, whose accounts become free.
    ///   - readsOnly: whether the thread runs only jobs that read.
    func next(after last: [HubJob], readsOnly: Bool) -> [HubJob] {
      condition.withLock {
        for job in last where job.query.isWriting { busy.remove(job.query.account) }
        while true {
          let found = take(readsOnly)
          if !found.isEmpty {
            // Other jobs may be ready with the accounts that became free.
            if !jobs.isEmpty { condition.broadcast() }
            return found
          }
          if isClosed, jobs.isEmpty {
            condition.broadcast()
            return []
          }
          condition.wait()
        }
      }
    }

    private func take(_ readsOnly: Bool) -> [HubJob] {
      var (found, left) = ([HubJob](), [HubJob]())
      var most = 1
      for job in jobs {
        let (account, isWriting) = (job.query.account, job.query.isWriting)
        guard found.count < most, found.first?.query.isWriting ?? isWriting == isWriting,
          !isWriting || !readsOnly && !busy.contains(account)
        else {
          left.append(job)
          continue
        }
        if isWriting { busy.insert(account) }
        found.append(job)
        most = isWriting ? Self.mostWriting : Self.mostReading
      }
      jobs = left
      // The same order in each process prevents deadlocks between batches.
      return found.sorted { $0.query.account < $1.query.account }
    }

    /// Removes the jobs whose deadline has passed.
    func overdue() -> [HubJob] {
      condition.withLock {
        let now = Date()
        let late = jobs.filter { $0.deadline < now }
        if !late.isEmpty { jobs.removeAll { $0.deadline < now } }
        return late
      }
    }

    /// Changes when a connection times out. Connections that were opened before may be dead, too: a
    /// server that is frozen, or that vanished, closes none.
    var generation: Int { condition.withLock { timeouts } }

    func noteTimeout() { condition.withLock { timeouts += 1 } }

    func close() {
      condition.withLock {
        isClosed = true
        condition.broadcast()
      }
    }

    /// Pauses a thread, at most until the queue is closed.
    func pause(_ seconds: TimeInterval) {
      let end = Date(timeIntervalSinceNow: seconds)
      condition.withLock { while !isClosed, condition.wait(until: end) {} }
    }

    var isEnding: Bool { condition.withLock { isClosed } }
  }
#endif
