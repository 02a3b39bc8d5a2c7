// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  package import KeepsakeHubServer

  /// The accounts of a hub in PostgreSQL, by any number of processes at once.
  ///
  /// Of several hosts in the address the one that takes writes is used, and found again when
  /// another one takes over. What was submitted and not yet committed then runs again; where it is
  /// not known whether it was committed, `HubDatabaseError.unavailable` says so.
  package final class PostgresDatabase: HubDatabase {
    package let name: String
    private let queue = JobQueue()
    private let announcer: Announcer
    /// Seconds that work may wait.
    private let patience: TimeInterval

    /// Connects to a database, and makes or migrates its tables.
    ///
    /// - Parameters:
    ///   - url: `postgresql://user@host,host/database`, with what else libpq knows.
    ///   - connections: how many pieces of work run at once.
    ///   - patience: how long work waits for a server.
    ///   - pollInterval: how often to look for changes that no other process has told.
    /// - Throws: `HubDatabaseError`.
    /// Whether an address can be read; nothing is asked there.
    package static func check(url: String) throws(HubDatabaseError) {
      _ = try PostgresAddress(url)
    }

    package init(
      url: String, connections: Int = 8, patience: Duration = .seconds(10),
      pollInterval: Duration = .seconds(30)
    ) throws {
      let address = try PostgresAddress(url)
      name = address.name
      self.patience = patience / .seconds(1)
      do {
        try PostgresSchema.migrate(address)
      } catch let error as PostgresError {
        throw error.told(address.name)
      }
      announcer = Announcer(address, queue, pollInterval / .seconds(1))
      for number in 1...max(connections, 1) {
        start("hub postgres \(number)") { [queue] in PostgresWorker(address, queue).work() }
      }
      start("hub postgres news") { [announcer] in announcer.work() }
    }

    private func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
      queue.addThread()
      let thread = Thread(block: body)
      thread.name = name
      thread.start()
    }

    deinit {
      queue.close()
      announcer.wake()
    }

    package func submit<Result: Sendable>(
      on account: Int64, _ work: @escaping @Sendable (any HubTables) throws -> Result,
      _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
      let announcer = announcer
      add(account, done) { connection in
        let tables = PostgresTables(connection, account)
        let result = try work(tables)
        let (seq, isNew) = try tables.news
        return (
          result, tables.commit,
          { isNew ? announcer.tell(account, seq) : announcer.know(account, seq) }
        )
      }
    }

    package func submit<Result: Sendable>(
      _ work: @escaping @Sendable (any HubDirectory) throws -> Result,
      _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
      add(nil, done) { connection in
        let directory = PostgresDirectory(connection)
        return (try work(directory), directory.commit, {})
      }
    }

    /// What a piece of work came to, how to commit it, and what follows.
    private typealias Outcome<Result> = (
      result: Result, commit: () throws -> Void, then: () -> Void
    )

    private func add<Result: Sendable>(
      _ account: Int64?, _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void,
      _ body: @escaping (PostgresConnection) throws -> Outcome<Result>
    ) {
      let name = name
      queue.add(
        JobQueue.Job(
          account: account, deadline: Date(timeIntervalSinceNow: patience),
          run: { connection in
            do {
              let outcome = try body(connection)
              do {
                try outcome.commit()
              } catch let error as PostgresError where error.endsConnection {
                // Nobody knows whether it was committed: it must not run again.
                done(.failure(error.told(name)))
                connection.isDone = true
                return nil
              }
              outcome.then()
              done(.success(outcome.result))
              return nil
            } catch {
              let problem = error as? PostgresError
              if problem?.state != nil || problem == nil {
                do {
                  _ = try connection.run(.rollback)
                } catch {
                  connection.isDone = true
                }
              }
              if let problem { return problem }
              done(.failure(error))
              return nil
            }
          }, fail: { done(.failure($0)) }))
    }

    package func observe(
      _ onChange: @escaping @Sendable (_ account: Int64, _ seq: Int64) -> Void
    ) {
      announcer.observe(onChange)
    }

    /// Must not be called by what was submitted.
    package func close() {
      queue.close()
      announcer.wake()
      queue.waitForEnd()
    }
  }
#endif
