// SPDX-License-Identifier: Apache-2.0
//
// What a hub counts. Labels are words of this file and numbers of statuses: nothing that a device
// sent, and nothing that tells accounts apart.

#if Hub
  import KeepsakeHubServer
  import KeepsakeSync
  import Metrics

  struct HubMetrics: Sendable {
    private let factory: any MetricsFactory
    private let streams: Meter

    init(_ factory: any MetricsFactory) {
      self.factory = factory
      streams = Meter(label: "keepsake_hub_listeners", factory: factory)
      streams.set(0)
      for database in Database.allCases { counter(of: database).increment(by: 0) }
      for direction in Rows.allCases { counter(of: direction).increment(by: 0) }
    }

    func answered(_ route: Route?, _ status: Int, in duration: Duration) {
      let name = route?.rawValue ?? "other"
      Counter(
        label: "keepsake_hub_requests_total",
        dimensions: [("request", name), ("status", "\(status)")], factory: factory
      ).increment()
      record(duration, "keepsake_hub_request_seconds", ("request", name))
    }

    enum Rows: String, CaseIterable { case taken, held, given }

    func count(_ number: Int, _ rows: Rows) { counter(of: rows).increment(by: number) }

    func count(_ answer: HubAnswer) {
      if let pushed = answer.pushed {
        count(pushed.changed, .taken)
        count(pushed.held, .held)
      }
      if let page = answer.page { count(page.rows.count, .given) }
    }

    private func counter(of rows: Rows) -> Counter {
      Counter(
        label: "keepsake_hub_rows_total", dimensions: [("rows", rows.rawValue)], factory: factory)
    }

    /// Event streams and long polls.
    func listens(_ change: Double) { streams.increment(by: change) }

    enum Database: String, CaseIterable { case account, directory }

    /// What a piece of work on the database takes with its wait, and whether the database fails.
    func timed<Result>(
      _ database: Database, _ body: () async throws -> sending Result
    ) async throws -> sending Result {
      let start = ContinuousClock.now
      defer {
        let label = ("on", database.rawValue)
        record(ContinuousClock.now - start, "keepsake_hub_database_seconds", label)
      }
      do {
        return try await body()
      } catch {
        switch error {
        case HubDatabaseError.broken, HubDatabaseError.unavailable:
          counter(of: database).increment()
        default: break
        }
        throw error
      }
    }

    private func counter(of database: Database) -> Counter {
      Counter(
        label: "keepsake_hub_database_failures_total", dimensions: [("on", database.rawValue)],
        factory: factory)
    }

    private func record(_ duration: Duration, _ name: String, _ label: (String, String)) {
      let time = duration.components
      Timer(label: name, dimensions: [label], factory: factory)
        .recordNanoseconds(time.seconds * 1_000_000_000 + time.attoseconds / 1_000_000_000)
    }
  }
#endif
