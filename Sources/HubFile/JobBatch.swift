// SPDX-License-Identifier: Apache-2.0
//
// Group commit: all jobs of a batch share one transaction. No job is answered before the commit,
// not even a refused one, as a change of another job may be the reason. If the transaction fails,
// each job runs in its own, as one job may be the cause. SQLite writes nothing for a transaction
// without changes.

import KeepsakeHubServer
import KeepsakeStorage

/// Jobs that are committed together.
struct JobBatch {
  /// The limits of a batch: a small push waits for the whole batch.
  private static let (mostJobs, mostChanges) = (256, 4_000)

  private let jobs: ArraySlice<HubJob>
  private let sole: SoleConnection

  init(_ jobs: ArraySlice<HubJob>, _ sole: SoleConnection) {
    (self.jobs, self.sole) = (jobs.prefix(Self.mostJobs), sole)
  }

  /// Commits jobs, and calls back for each of them.
  ///
  /// - Parameter marks: receives the new marks, by account.
  /// - Returns: how many of the jobs are done.
  func run(_ marks: inout [Int64: HubMark]) -> Int {
    var tried = 0
    do {
      for (job, newest) in try zip(jobs, commit(&tried)) {
        job.end()
        if let newest { marks[job.query.account] = newest }
      }
    } catch {
      guard tried > 1 else {
        jobs.first?.end(Self.storeError(error))
        return 1
      }
      for place in jobs.indices.prefix(tried) {
        _ = JobBatch(jobs[place...place], sole).run(&marks)
      }
    }
    return tried
  }

  private static func storeError(_ error: any Error) -> any Error {
    guard let error = error as? KeepsakeError else { return error }
    return switch error.code {
    case .diskFull, .locked, .inputOutput, .permissionDenied:
      HubStoreError.unavailable(error.description)
    default: HubStoreError.broken(error.description)
    }
  }

  /// - Returns: the new mark of each job that was tried, if it has made one.
  /// - Throws: if nothing was committed.
  private func commit(_ tried: inout Int) throws -> [HubMark?] {
    var marks: [HubMark?] = []
    do {
      try sole.access { connection in
        let start = connection.totalChanges
        try connection.transaction(.immediate) { connection in
          for job in jobs {
            tried += 1
            marks.append(try FileTransaction(connection: connection).run(job))
            guard connection.totalChanges - start < Self.mostChanges else { break }
          }
          if connection.totalChanges != start { try checkNames(connection) }
        }
      }
      return marks
    } catch {
      try sole.saveLostLog()
      throw error
    }
  }

  private func checkNames(_ connection: Connection) throws {
    do {
      try sole.checkNames()
    } catch {
      // If the file was replaced, its log may be the only copy of the data.
      do {
        try connection.refuseMovedFile()
      } catch {
        connection.keepLog(true)
        throw error
      }
      throw error
    }
  }
}
