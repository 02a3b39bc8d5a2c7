// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  /// Jobs that wait for a connection. A thread takes several at once, which share a transaction:
  /// those that change accounts, of which each account has one at a time; or those that read.
  // Sendable: everything but the conditions is used with the first one locked.
  final class JobQueue: @unchecked Sendable {
    /// Signalled when there is something to run, or nothing any more.
    private let condition = NSCondition()
    /// Signalled at the end alone: a thread that waits for the end takes no signal of a job away.
    private let ending = NSCondition()
    private var jobs: [HubJob] = []
    private var busy: Set<Int64> = []
    private var isClosed = false
    /// Counts connections that did not answer in time.
    private var silences = 0
    private let limit = 10_000
    /// Jobs that share a transaction at most.
    private static let (mostWriting, mostReading) = (64, 16)

    func add(_ job: HubJob) {
      let problem: String? = condition.withLock {
        if isClosed { return "the hub ends" }
        if jobs.count >= limit { return "too much waits for the database" }
        jobs.append(job)
        // Not each thread runs each job.
        condition.broadcast()
        return nil
      }
      if let problem { job.end(HubStoreError.unavailable(problem)) }
    }

    /// Waits for jobs that may run; none at the end.
    ///
    /// - Parameters:
    ///   - last: the jobs that the thread has run before, so that others of their accounts may run
    ///     now.
    ///   - readsOnly: whether the thread is to run no other jobs.
    func next(after last: [HubJob], readsOnly: Bool) -> [HubJob] {
      condition.withLock {
        for job in last where job.query.isWriting { busy.remove(job.query.account) }
        while true {
          let found = take(readsOnly)
          if !found.isEmpty {
            // Others may have become free with the last ones' accounts.
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
      // In the same order in each process: two batches cannot wait for each other.
      return found.sorted { $0.query.account < $1.query.account }
    }

    /// Takes out what has waited too long.
    func overdue() -> [HubJob] {
      condition.withLock {
        let now = Date()
        let late = jobs.filter { $0.deadline < now }
        if !late.isEmpty { jobs.removeAll { $0.deadline < now } }
        return late
      }
    }

    /// Connections that were opened before this number last changed may be as dead as the one that
    /// did not answer: a server that is frozen, or that vanished, closes none.
    var generation: Int { condition.withLock { silences } }

    func noteSilence() { condition.withLock { silences += 1 } }

    func close() {
      condition.withLock {
        isClosed = true
        condition.broadcast()
      }
      ending.withLock { ending.broadcast() }
    }

    /// Pauses a thread; shorter when the queue is closed.
    func pause(_ seconds: TimeInterval) {
      let end = Date(timeIntervalSinceNow: seconds)
      ending.withLock { while !isEnding, ending.wait(until: end) {} }
    }

    var isEnding: Bool { condition.withLock { isClosed } }
  }
#endif
