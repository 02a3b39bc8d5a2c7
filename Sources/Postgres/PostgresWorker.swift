// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  /// A thread with a connection, which it opens again when that is lost.
  package final class PostgresWorker {
    private let address: PostgresAddress
    private let queue: JobQueue
    private var connection: PostgresConnection?

    init(_ address: PostgresAddress, _ queue: JobQueue) {
      (self.address, self.queue) = (address, queue)
    }

    package static let statements =
      [.begin, .beginSerializable, .commit, .rollback] + AccountTable.statements
      + [PostgresTables.look] + PostgresTables.rowStatements + PostgresTables.heldStatements
      + PostgresTables.seenStatements + PostgresTables.peerStatements
      + PostgresDirectory.statements

    func work() {
      var last: JobQueue.Job?
      while let job = queue.next(after: last) {
        run(job)
        last = job
      }
      queue.endThread()
    }

    /// Runs a job until it is done, or its time is over. It may run again while it is certain that
    /// nothing of it was committed.
    private func run(_ job: JobQueue.Job) {
      var pause = 0.02
      while true {
        let problem: PostgresError
        do {
          guard job.deadline > Date() else {
            job.fail(.unavailable("\(address.name): it did not answer in time"))
            return
          }
          let open = try connection ?? PostgresConnection(address, prepare: Self.statements)
          connection = open
          let outcome = job.run(open)
          if open.isDone { connection = nil }
          guard let failure = outcome else { return }
          if failure.endsConnection { connection = nil }
          problem = failure
        } catch let error as PostgresError {
          connection = nil
          problem = error
        } catch {
          job.fail(.unavailable("\(address.name): \(error)"))
          return
        }
        for late in queue.overdue() { late.fail(problem.told(address.name)) }
        let next = Date(timeIntervalSinceNow: pause)
        guard problem.mayPass, next < job.deadline, !queue.isEnding else {
          job.fail(problem.told(address.name))
          return
        }
        queue.pause(.random(in: pause / 2...pause))
        pause = min(pause * 2, 1)
      }
    }
  }

  extension PostgresError {
    fileprivate var mayPass: Bool { endsConnection || isConflict }
  }
#endif
