// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  package import KeepsakeHubServer

  /// Runs jobs on one thread with one connection, which it reopens when that is lost.
  package final class PostgresWorker {
    private let address: PostgresAddress
    private let queue: JobQueue
    /// Called for each account that has a new mark.
    private let announce: (Int64, HubMark) -> Void
    private var connection: PostgresConnection?
    /// The queue's generation when the connection was opened.
    private var generation = 0

    init(
      _ address: PostgresAddress, _ queue: JobQueue,
      _ announce: @escaping (Int64, HubMark) -> Void
    ) {
      (self.address, self.queue, self.announce) = (address, queue, announce)
    }

    private static let begin = HubStatement("begin", "BEGIN")
    private static let beginReading = HubStatement(
      "begin_reading", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    private static let rollback = HubStatement("rollback", "ROLLBACK")

    package static let statements =
      [begin, beginReading, .commit, rollback] + HubQuery.postgresStatements
      + HubFastPush.statements

    /// - Parameter readsOnly: whether it runs only jobs that read: all others may wait for a
    ///   standby.
    func work(readsOnly: Bool) {
      var last: [HubJob] = []
      while true {
        let jobs = queue.next(after: last, readsOnly: readsOnly)
        guard !jobs.isEmpty else { break }
        run(jobs)
        last = jobs
      }
    }

    /// Runs jobs in one transaction, or each in its own if that fails.
    private func run(_ jobs: [HubJob]) {
      guard jobs.count > 1 else { return jobs.forEach(retry) }
      do {
        try attempt(jobs)
      } catch {
        // Nothing was committed. Each job runs alone, to get its own error.
        jobs.filter { !$0.isDone }.forEach(retry)
      }
    }

    /// Runs a job until it is done, or its deadline has passed. It may run again while it is
    /// certain that nothing was committed.
    private func retry(_ job: HubJob) {
      var pause = 0.02
      while true {
        guard job.deadline > Date() else {
          return job.end(HubStoreError.unavailable("\(address.name): it did not answer in time"))
        }
        let problem: PostgresError
        do {
          return try attempt([job])
        } catch {
          problem = error as? PostgresError ?? PostgresError(message: "\(error)")
        }
        for late in queue.overdue() { late.end(problem.storeError(address.name)) }
        let next = Date(timeIntervalSinceNow: pause)
        guard problem.endsConnection || problem.isConflict, next < job.deadline, !queue.isEnding
        else { return job.end(problem.storeError(address.name)) }
        queue.pause(.random(in: pause / 2...pause))
        pause = min(pause * 2, 1)
      }
    }

    // MARK: - One transaction

    /// - Throws: `PostgresError`, if nothing of the jobs was committed.
    private func attempt(_ jobs: [HubJob]) throws {
      do {
        if generation != queue.generation { connection = nil }
        generation = queue.generation
        let open = try connection ?? PostgresConnection(address, prepare: Self.statements)
        connection = open
        let deadline = jobs.map(\.deadline).max() ?? Date()
        open.timeout = max(1, deadline.timeIntervalSinceNow)
        if jobs[0].query.isWriting {
          try push(jobs.filter { $0.fastPush != nil }, on: open)
          try write(jobs.filter { !$0.isDone }, on: open)
        } else {
          // One round trip.
          try decide(
            jobs, after: HubCall(Self.beginReading), before: [HubCall(.commit)], on: open)
        }
      } catch let error as PostgresError {
        if error.isTimeout { queue.noteTimeout() }
        if error.endsConnection { connection = nil } else { rollBack() }
        throw error
      }
      for job in jobs where !job.isDone { job.end() }
    }

    private func rollBack() {
      do {
        _ = try connection?.run(Self.rollback)
      } catch {
        connection = nil
      }
    }

    /// Pushes that the statements can decide: one round trip.
    private func push(_ jobs: [HubJob], on open: PostgresConnection) throws {
      guard !jobs.isEmpty else { return }
      let pushes = jobs.compactMap(\.fastPush)
      let calls = pushes.map(\.calls)
      var results: ArraySlice<PostgresResult>
      do {
        let begin = HubCall(Self.begin)
        results = try open.commit(after: [begin] + calls.joined()).dropFirst()
      } catch let error as PostgresError where error.endsConnection {
        return giveUp(jobs, because: error)
      }
      for (index, own) in calls.enumerated() {
        if let pushed = pushes[index].pushed(results.prefix(own.count)) {
          jobs[index].take(pushed)
          announce(jobs[index].query.account, pushed.newest)
          jobs[index].end()
        }
        results = results.dropFirst(own.count)
      }
    }

    /// It is unknown whether these were committed, so they must not run again.
    private func giveUp(_ jobs: [HubJob], because error: PostgresError) {
      if error.isTimeout { queue.noteTimeout() }
      connection = nil
      for job in jobs { job.end(error.storeError(address.name)) }
    }

    /// Two round trips: one that reads, and one that writes and commits.
    private func write(_ jobs: [HubJob], on open: PostgresConnection) throws {
      guard !jobs.isEmpty else { return }
      try decide(jobs, after: HubCall(Self.begin), on: open)
      let changes = jobs.flatMap { $0.change?.calls($0.query.account) ?? [] }
      guard !changes.isEmpty else {
        _ = try open.run(Self.rollback)
        return
      }
      do {
        _ = try open.commit(after: changes)
      } catch let error as PostgresError where error.endsConnection {
        return giveUp(jobs.filter { $0.change != nil }, because: error)
      }
      for job in jobs {
        if let mark = job.change?.mark { announce(job.query.account, mark) }
      }
    }

    private func decide(
      _ jobs: [HubJob], after begin: HubCall, before end: [HubCall] = [],
      on open: PostgresConnection
    ) throws {
      let calls = jobs.map(\.query.postgresCalls)
      var results = try open.run([begin] + calls.joined() + end).dropFirst()
      for (job, own) in zip(jobs, calls) {
        job.decide(job.query.state(results.prefix(own.count)))
        results = results.dropFirst(own.count)
      }
    }
  }
#endif
