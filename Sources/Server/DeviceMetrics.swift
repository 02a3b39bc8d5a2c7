// SPDX-License-Identifier: Apache-2.0
//
// Labels are words of this file and codes of `KeepsakeError`, and the name that the application
// gives a device: no key, no value, no path.

#if Server
  public import Keepsake
  import KeepsakeDevice
  public import Metrics

  /// Counts by swift-metrics what this process does with a device, until it is released.
  ///
  ///     let metrics = DeviceMetrics(device)
  ///
  /// Every handle on the file counts, and every merge that the device takes part in. What other
  /// processes do does not. The article on servers lists the metrics.
  public final class DeviceMetrics: Sendable {
    /// What is counted goes with the last handle on the file.
    private let device: Device
    private let observation: ObservationToken

    /// Begins to count, from zero.
    ///
    /// - Parameters:
    ///   - device: is retained.
    ///   - name: is the label `device` of each metric, to tell devices of one process apart;
    ///     without it there is no such label.
    ///   - factory: where the metrics are made.
    public init(
      _ device: Device, name: String? = nil, factory: any MetricsFactory = MetricsSystem.factory
    ) {
      let counters = Counters(factory, name.map { [("device", $0)] } ?? [])
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

    init(_ factory: any MetricsFactory, _ labels: [(String, String)]) {
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
      case .failed(let code): count("write", code)
      case .set(let duration): sets.record(duration)
      case .merged(let tally):
        mergeTimes.record(tally.duration)
        conflicts.increment(by: tally.conflicts)
        waiting.increment(by: tally.waiting)
        if let code = tally.failure { count("merge", code) } else { merges.increment() }
      }
    }

    private func count(_ what: String, _ failure: KeepsakeError.Code) {
      Counter(
        label: "keepsake_\(what)_failures_total", dimensions: labels + [("reason", "\(failure)")],
        factory: factory
      ).increment()
    }
  }
#endif
