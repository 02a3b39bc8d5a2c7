// SPDX-License-Identifier: Apache-2.0
//
// swift package --package-path Benchmarks benchmark
//
// Machines differ, and other programs use them: compare only rows of one run.

import Benchmark

let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .throughput], warmupIterations: 1, scalingFactor: .kilo,
    maxDuration: .seconds(5))
  OtherProcess.runIfTold()
  readBenchmarks()
  writeBenchmarks()
  openBenchmarks()
  processBenchmarks()
  mergeBenchmarks()
  injectionBenchmarks()
  propertyListBenchmarks()
}
