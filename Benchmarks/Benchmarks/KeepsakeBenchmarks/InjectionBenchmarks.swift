// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Dispatch
import KeepsakeInjection
import Synchronization

private final class Alpha: Sendable {}
private final class Beta: Sendable {}
private final class Gamma: Sendable {}
private protocol Greek: Sendable {}
extension Alpha: Greek {}

private final class Trio: Sendable {
  let alpha: Alpha, beta: Beta, gamma: Gamma
  init(alpha: Alpha, beta: Beta, gamma: Gamma) {
    (self.alpha, self.beta, self.gamma) = (alpha, beta, gamma)
  }
}

private struct PairOf<A: Sendable, B: Sendable>: Sendable {}

/// 1,024 registrations of 256 types.
private func registerOthers(in container: Container) {
  let types: [any Sendable.Type] = [
    Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
    UInt32.self, UInt64.self, Bool.self, Float.self, Double.self, String.self, Character.self,
    Substring.self,
  ]
  func register<A: Sendable, B: Sendable>(_ a: A.Type, _ b: B.Type) {
    for name in 0..<4 { container.register(Container.Key("other \(name)")) { _ in PairOf<A, B>() } }
  }
  for a in types { for b in types { register(a, b) } }
}

private func container(amongOthers: Bool) -> Container {
  let container = Container()
  if amongOthers { registerOthers(in: container) }
  container.register { _ in Alpha() }.as(Container.Key<any Greek>()) { $0 }
  container.register(Container.Key("main")) { _ in Beta() }
  container.register { _ in Gamma() }
  container.register(scope: .transient) { c in
    try Trio(alpha: c.get(), beta: c.get(), gamma: c.get())
  }
  return container
}

private var manyLookups: Benchmark.Configuration {
  Benchmark.Configuration(
    metrics: [.wallClock, .throughput], warmupIterations: 1, scalingFactor: .mega,
    maxDuration: .seconds(3))
}

private func lookUp<T: Sendable>(_ name: String, _ key: Container.Key<T>) {
  for amongOthers in [false, true] {
    let suffix = amongOthers ? ", among 1,024 others" : ""
    Benchmark("inject: \(name)\(suffix)", configuration: manyLookups) { benchmark in
      let container = container(amongOthers: amongOthers)
      blackHole(try container.get(key))
      benchmark.startMeasurement()
      for _ in benchmark.scaledIterations { blackHole(try container.get(key)) }
    }
    // Two threads share the iterations: the wall time of each.
    Benchmark("inject: \(name), two threads\(suffix)", configuration: manyLookups) { benchmark in
      let container = container(amongOthers: amongOthers)
      blackHole(try container.get(key))
      let each = benchmark.scaledIterations.count / 2
      let failures = Atomic(0)
      benchmark.startMeasurement()
      DispatchQueue.concurrentPerform(iterations: 2) { _ in
        do {
          for _ in 0..<each { blackHole(try container.get(key)) }
        } catch {
          failures.add(1, ordering: .relaxed)
        }
      }
      benchmark.stopMeasurement()
      if failures.load(ordering: .relaxed) > 0 { benchmark.error("a lookup failed") }
    }
  }
}

func injectionBenchmarks() {
  lookUp("singleton", Container.Key<Alpha>())
  lookUp("singleton by its protocol", Container.Key<any Greek>())
  lookUp("named", Container.Key<Beta>("main"))
  lookUp("new object, three dependencies", Container.Key<Trio>())

  // The lower bound of a lookup: a lock and a dictionary.
  Benchmark("inject: limit, a lock and a dictionary", configuration: manyLookups) { benchmark in
    let objects = Mutex([ObjectIdentifier(Alpha.self): Alpha()])
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations {
      blackHole(objects.withLock { $0[ObjectIdentifier(Alpha.self)] })
    }
  }
}
