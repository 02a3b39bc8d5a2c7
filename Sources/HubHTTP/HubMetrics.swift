// SPDX-License-Identifier: Apache-2.0
//
// The metrics of a hub in Prometheus's text format. Labels have no data of devices, and nothing
// that tells accounts apart.

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import NIOCore
  import Synchronization

  final class HubMetrics: Sendable {
    private enum Name: String, CaseIterable {
      case failures = "keepsake_hub_database_failures_total"
      case databaseSeconds = "keepsake_hub_database_seconds"
      case requestSeconds = "keepsake_hub_request_seconds"
      case requests = "keepsake_hub_requests_total"
      case rows = "keepsake_hub_rows_total"

      /// Whether it is a Prometheus summary: a sum and a count.
      var isSummary: Bool { self == .databaseSeconds || self == .requestSeconds }
    }

    /// The sum and the number of the values of each name with each set of labels. Held for a few
    /// instructions; nothing is called under it.
    private let all = Mutex<[Name: [String: (sum: Double, count: Int)]]>([:])

    init() {
      for database in ["read", "write"] { add(0, to: .failures, "on=\"\(database)\"") }
      for direction in Rows.allCases { count(0, direction) }
    }

    private func add(_ value: Double, to name: Name, _ labels: String) {
      all.withLock { all in
        all[name, default: [:]][labels, default: (0, 0)].sum += value
        all[name]?[labels]?.count += 1
      }
    }

    // MARK: - Counting

    /// - Parameter name: method and path of the request, with names in the place of values.
    func answered(_ name: String, _ status: Int, in duration: Duration) {
      add(1, to: .requests, "request=\"\(name)\",status=\"\(status)\"")
      add(duration / .seconds(1), to: .requestSeconds, "request=\"\(name)\"")
    }

    enum Rows: String, CaseIterable { case taken, given }

    func count(_ number: Int, _ rows: Rows) {
      add(Double(number), to: .rows, "rows=\"\(rows.rawValue)\"")
    }

    /// Measures work on the database, with its wait, and counts failures of the database.
    func timed<Result>(
      _ isWriting: Bool, _ body: () async throws -> sending Result
    ) async throws -> sending Result {
      let labels = "on=\"\(isWriting ? "write" : "read")\""
      let start = ContinuousClock.now
      defer { add((ContinuousClock.now - start) / .seconds(1), to: .databaseSeconds, labels) }
      do {
        return try await body()
      } catch let error as HubStoreError {
        add(1, to: .failures, labels)
        throw error
      }
    }

    // MARK: - Text

    /// - Parameter listeners: event streams and polls that wait.
    func answer(to request: Request, listeners: Int) -> Response {
      guard request.uri.path == "/metrics", request.method == .get else {
        return HubRefusal.path("metrics are at /metrics").response
      }
      return Response(
        status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text(listeners))))
    }

    private func text(_ listeners: Int) -> String {
      let all = all.withLock(\.self)
      let gauge = "keepsake_hub_listeners"
      var text = "# TYPE \(gauge) gauge\n\(gauge) \(listeners)\n"
      for name in Name.allCases {
        text += "# TYPE \(name.rawValue) \(name.isSummary ? "summary" : "counter")\n"
        for (labels, series) in (all[name] ?? [:]).sorted(by: { $0.key < $1.key }) {
          text += Self.line(name.rawValue + (name.isSummary ? "_sum" : ""), labels, series.sum)
          guard name.isSummary else { continue }
          text += Self.line("\(name.rawValue)_count", labels, Double(series.count))
        }
      }
      return text
    }

    private static func line(_ name: String, _ labels: String, _ value: Double) -> String {
      // Whole numbers have no decimal point.
      let number = Int64(exactly: value).map(String.init) ?? "\(value)"
      return "\(name){\(labels)} \(number)\n"
    }
  }
#endif
