// SPDX-License-Identifier: Apache-2.0
//
// Labels contain only names from this file, codes of `KeepsakeError`, and the application's name
// of a device: no key, no value, no path.

#if Server
  public import Keepsake
  import KeepsakeDevice
  public import Metrics

  /// Counts this process's writes and merges on a device by swift-metrics, until it is released.
  ///
  ///     let metrics = DeviceMetrics(device)
  ///
  /// It counts the writes of every handle on the file, and every merge that the device takes part
  /// in, but no work of other processes. The article on servers lists the metrics.
  public final class DeviceMetrics: Sendable {
    /// The observation ends with the last handle on the file.
    private let device: Device
    private let observation: ObservationToken

    /// Starts counting, from zero.
    ///
    /// - Parameters:
    ///   - device: is retained.
    ///   - name: the label `device` of each metric, to distinguish devices of one process; nil for
    ///     no such label.
    ///   - factory: makes the metrics.
    public init(
      _ device: Device, name: String? = nil, factory: any MetricsFactory = MetricsSystem.factory
    ) {
      let counters = Counters(factory, labels: name.map { [("device", $0)] } ?? [])
      self.device = device
      observation = device.activities.add { counters.count($0) }
    }
  }

  extension Metrics.Timer {
    fileprivate func record(_ duration: Duration) {
      recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
  }

  private struct Counters: Sendable {
    private let factory: any MetricsFactory
    private let labels: [(String, String)]
    private let writes: Counter
    private let merges: Counter
    private let conflicts: Counter
    private let waiting: Counter
    private let sets: Metrics.Timer
    private let mergeTimes: Metrics.Timer

    init(_ factory: any MetricsFactory, labels: [(String, String)]) {
      (self.factory, self.labels) = (factory, labels)
      func counter(_ name: String) -> Counter {
        let counter = Counter(label: "keepsake_\(name)_total", dimensions: labels, factory: factory)
        counter.increment(by: 0)
        return counter
      }
      func timer(_ name: String) -> Metrics.Timer {
        Metrics.Timer(label: "keepsake_\(name)_seconds", dimensions: labels, factory: factory)
      }
      (writes, merges) = (counter("writes"), counter("merges"))
      (conflicts, waiting) = (counter("conflicts"), counter("waiting_entries"))
      (sets, mergeTimes) = (timer("set"), timer("merge"))
    }

    func count(_ activity: Activity) {
      switch activity {
      case .wrote(let number): writes.increment(by: number)
      case .failed(let code): countFailure(of: "write", code)
      case .set(let duration): sets.record(duration)
      case .merged(let tally):
        mergeTimes.record(tally.duration)
        conflicts.increment(by: tally.conflicts)
        waiting.increment(by: tally.waiting)
        if let code = tally.failure { countFailure(of: "merge", code) } else { merges.increment() }
      }
    }

    private func countFailure(of activity: String, _ code: KeepsakeError.Code) {
      Counter(
        label: "keepsake_\(activity)_failures_total", dimensions: labels + [("reason", "\(code)")],
        factory: factory
      ).increment()
    }
  }
#endif
