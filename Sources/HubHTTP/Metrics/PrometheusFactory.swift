// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import Metrics
  import NIOCore
  import Synchronization

  /// Keeps metrics, and writes them as the text that Prometheus reads.
  final class PrometheusFactory: MetricsFactory {
    /// What has one name and one type: a series for each set of labels.
    private struct Family {
      let name: String
      let type: String
      var series: [String: any PrometheusSeries] = [:]
    }

    /// Held while a series is found, and while all are written, which takes a series' own lock.
    private let families = Mutex<[String: Family]>([:])

    /// All of them in the order of their names.
    var text: String {
      families.withLock { families in
        families.sorted { $0.key < $1.key }.map { _, family in
          let lines = family.series.sorted { $0.key < $1.key }
            .map { labels, series in series.lines(family.name, labels) }
          return "# TYPE \(family.name) \(family.type)\n" + lines.joined()
        }.joined()
      }
    }

    func answer(to request: Request) -> Response {
      guard request.uri.path == "/metrics" else {
        return Problem.path("metrics are at /metrics").response
      }
      guard request.method == .get else { return Problem.method("GET").response }
      return Response(
        status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Finds a series or makes it; metrics of two types are two, even where they share a name.
    private func series<Series: PrometheusSeries>(
      _ label: String, _ dimensions: [(String, String)], _ type: String, _ make: () -> Series
    ) -> Series {
      let labels = Self.labels(dimensions)
      return families.withLock { families in
        let name = Self.name(label)
        var family = families["\(name) \(type)"] ?? Family(name: name, type: type)
        if let present = family.series[labels] as? Series { return present }
        let made = make()
        family.series[labels] = made
        families["\(name) \(type)"] = family
        return made
      }
    }

    private static func name(_ label: String) -> String {
      let name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
      return name.first?.isNumber ?? true ? "_" + name : name
    }

    private static func labels(_ dimensions: [(String, String)]) -> String {
      dimensions.map { key, value in
        let quoted = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
          .replacing("\n", with: "\\n")
        return "\(name(key))=\"\(quoted)\""
      }.joined(separator: ",")
    }

    // MARK: - What swift-metrics asks for

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
      series(label, dimensions, "counter") { PrometheusNumber() }
    }

    func makeFloatingPointCounter(
      label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
      series(label, dimensions, "counter") { PrometheusNumber() }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
      series(label, dimensions, "gauge") { PrometheusNumber() }
    }

    func makeRecorder(
      label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
      aggregate
        ? series(label, dimensions, "histogram") { PrometheusHistogram() }
        : series(label, dimensions, "gauge") { PrometheusNumber() }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
      series(label, dimensions, "histogram") { PrometheusHistogram() }
    }

    // A counter that went away would look to Prometheus like one that begins anew.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
  }
#endif
