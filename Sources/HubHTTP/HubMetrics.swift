// SPDX-License-Identifier: Apache-2.0
//
// What a hub counts, as the text that Prometheus reads. Labels are words of the hub and numbers of
// statuses: nothing that a device sent, and nothing that tells accounts apart.

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
      case listeners = "keepsake_hub_listeners"
      case requestSeconds = "keepsake_hub_request_seconds"
      case requests = "keepsake_hub_requests_total"
      case rows = "keepsake_hub_rows_total"

      var type: String {
        switch self {
        case .listeners: "gauge"
        case .databaseSeconds, .requestSeconds: "histogram"
        default: "counter"
        }
      }
    }

    /// Of seconds, from what a disk takes at best to what a device waits for.
    private static let bounds = [
      0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    /// The values of one name with one set of labels.
    private struct Series {
      var (sum, count) = (0.0, 0)
      /// How many values were at each bound, and not below it.
      var counts = [Int](repeating: 0, count: bounds.count)
    }

    /// Held for a few instructions; nothing is called under it.
    private let all = Mutex<[Name: [String: Series]]>([:])

    init() {
      add(0, to: .listeners, "")
      for database in ["read", "write"] { add(0, to: .failures, "on=\"\(database)\"") }
      for direction in Rows.allCases { count(0, direction) }
    }

    private func add(_ value: Double, to name: Name, _ labels: String) {
      all.withLock { all in
        all[name, default: [:]][labels, default: Series()].sum += value
      }
    }

    private func record(_ duration: Duration, _ name: Name, _ labels: String) {
      let seconds = duration / .seconds(1)
      let place = Self.bounds.firstIndex { seconds <= $0 }
      all.withLock { all in
        all[name, default: [:]][labels, default: Series()].sum += seconds
        all[name]?[labels]?.count += 1
        if let place { all[name]?[labels]?.counts[place] += 1 }
      }
    }

    // MARK: - What is counted

    /// - Parameter name: method and path of the request, with names in the place of values.
    func answered(_ name: String, _ status: Int, in duration: Duration) {
      add(1, to: .requests, "request=\"\(name)\",status=\"\(status)\"")
      record(duration, .requestSeconds, "request=\"\(name)\"")
    }

    enum Rows: String, CaseIterable { case taken, given }

    func count(_ number: Int, _ rows: Rows) {
      add(Double(number), to: .rows, "rows=\"\(rows.rawValue)\"")
    }

    /// Event streams and long polls.
    func listens(_ change: Double) { add(change, to: .listeners, "") }

    /// What a piece of work on the database takes with its wait, and whether the database fails.
    func timed<Result>(
      _ isWriting: Bool, _ body: () async throws -> sending Result
    ) async throws -> sending Result {
      let labels = "on=\"\(isWriting ? "write" : "read")\""
      let start = ContinuousClock.now
      defer { record(ContinuousClock.now - start, .databaseSeconds, labels) }
      do {
        return try await body()
      } catch let error as HubStoreError {
        add(1, to: .failures, labels)
        throw error
      }
    }

    // MARK: - Text

    func answer(to request: Request) -> Response {
      guard request.uri.path == "/metrics", request.method == .get else {
        return Problem.path("metrics are at /metrics").response
      }
      return Response(
        status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private var text: String {
      let all = all.withLock(\.self)
      return Name.allCases.map { name in
        let series = (all[name] ?? [:]).sorted { $0.key < $1.key }
        return "# TYPE \(name.rawValue) \(name.type)\n"
          + series.map { Self.lines(name, $0.key, $0.value) }.joined()
      }.joined()
    }

    private static func lines(_ name: Name, _ labels: String, _ series: Series) -> String {
      guard name.type == "histogram" else { return line(name.rawValue, labels, series.sum) }
      var (text, below) = ("", 0)
      for (bound, count) in zip(bounds, series.counts) {
        below += count
        text += line("\(name.rawValue)_bucket", "\(labels),le=\"\(bound)\"", Double(below))
      }
      return text
        + line("\(name.rawValue)_bucket", "\(labels),le=\"+Inf\"", Double(series.count))
        + line("\(name.rawValue)_sum", labels, series.sum)
        + line("\(name.rawValue)_count", labels, Double(series.count))
    }

    private static func line(_ name: String, _ labels: String, _ value: Double) -> String {
      // Whole numbers without a point, as people write them.
      let number = Int64(exactly: value).map(String.init) ?? "\(value)"
      return "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(number)\n"
    }
  }
#endif
