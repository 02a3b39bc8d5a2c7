// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Metrics
  import Synchronization

  /// The values of one metric with one set of labels.
  protocol PrometheusSeries: AnyObject, Sendable {
    /// - Parameter labels: as they stand between braces; there may be none.
    func lines(_ name: String, _ labels: String) -> String
  }

  extension PrometheusSeries {
    fileprivate func line(_ name: String, _ labels: String, _ value: Double) -> String {
      let place = labels.isEmpty ? name : "\(name){\(labels)}"
      // Whole numbers without a point, as people write them.
      let whole = Int64(exactly: value).map(String.init)
      return "\(place) \(whole ?? "\(value)")\n"
    }
  }

  /// A number that is counted up, or set.
  final class PrometheusNumber: PrometheusSeries, CounterHandler, FloatingPointCounterHandler,
    MeterHandler, RecorderHandler
  {
    /// Held for a few instructions; nothing is called under it.
    private let value = Mutex(0.0)

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func reset() { set(0.0) }
    func set(_ new: Int64) { set(Double(new)) }
    func set(_ new: Double) { value.withLock { $0 = new } }
    func record(_ new: Int64) { set(Double(new)) }
    func record(_ new: Double) { set(new) }

    func lines(_ name: String, _ labels: String) -> String {
      line(name, labels, value.withLock(\.self))
    }
  }

  /// How many values were below each of some bounds; those of a timer are seconds.
  final class PrometheusHistogram: PrometheusSeries, TimerHandler, RecorderHandler {
    /// From what a disk takes at best to what a device waits for.
    private static let bounds = [
      0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    private struct Sums {
      var counts = [Int](repeating: 0, count: bounds.count)
      var (count, sum) = (0, 0.0)
    }

    /// Held for a few instructions; nothing is called under it.
    private let sums = Mutex(Sums())

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
      sums.withLock { sums in
        if let place = Self.bounds.firstIndex(where: { value <= $0 }) { sums.counts[place] += 1 }
        sums.count += 1
        sums.sum += value
      }
    }

    func lines(_ name: String, _ labels: String) -> String {
      let sums = sums.withLock(\.self)
      let before = labels.isEmpty ? "" : labels + ","
      var (text, below) = ("", 0)
      for (bound, count) in zip(Self.bounds, sums.counts) {
        below += count
        text += line("\(name)_bucket", "\(before)le=\"\(bound)\"", Double(below))
      }
      text += line("\(name)_bucket", "\(before)le=\"+Inf\"", Double(sums.count))
      return text + line("\(name)_sum", labels, sums.sum)
        + line("\(name)_count", labels, Double(sums.count))
    }
  }
#endif
