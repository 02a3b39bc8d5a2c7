// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  package import KeepsakeHubServer

  /// Stores the accounts of a hub in PostgreSQL, for any number of processes at once.
  ///
  /// If the address has several hosts, the one that accepts writes is used, and found again when
  /// another one takes over. Work that was not committed runs again then; if it is not known
  /// whether it was committed, it fails as `unavailable`.
  package final class PostgresDatabase: HubStore {
    private let queue = JobQueue()
    private let announcer: MarkAnnouncer
    /// The threads that still run.
    private let running = DispatchGroup()
    /// Seconds that work may wait.
    private let timeout: TimeInterval

    /// Connects to a database, and makes or migrates its tables.
    ///
    /// - Parameters:
    ///   - url: `postgresql://user@host,host/database`, with libpq's other parameters.
    ///   - connections: how many transactions run at once, in addition to one that only reads.
    ///   - timeout: how long work waits for a server.
    /// - Throws: `HubStoreError`.
    package init(
      url: String, connections: Int = 8, timeout: Duration = .seconds(10)
    ) throws {
      let address = try PostgresAddress(url)
      self.timeout = timeout / .seconds(1)
      do {
        try PostgresSchema.migrate(address)
      } catch let error as PostgresError {
        throw error.storeError(address.name)
      }
      announcer = MarkAnnouncer(address, queue)
      for number in 0...max(connections, 1) {
        start("hub postgres \(number)") { [queue, announcer] in
          PostgresWorker(address, queue, announcer.announce).work(readsOnly: number == 0)
        }
      }
      start("hub postgres announcer") { [announcer] in announcer.work() }
    }

    private func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
      running.enter()
      let thread = Thread { [running] in
        body()
        running.leave()
      }
      thread.name = name
      thread.start()
    }

    deinit {
      queue.close()
      announcer.wake()
    }

    package func run<Result: Sendable>(
      _ work: HubWork<Result>,
      _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
      queue.add(HubJob(work, deadline: Date(timeIntervalSinceNow: timeout), done))
    }

    package func observe(
      _ onChange: @escaping @Sendable (_ account: Int64, _ newest: HubMark) -> Void
    ) {
      announcer.observe(onChange)
    }

    /// Must not be called by a rule.
    package func close() {
      queue.close()
      announcer.wake()
      running.wait()
    }
  }
#endif
