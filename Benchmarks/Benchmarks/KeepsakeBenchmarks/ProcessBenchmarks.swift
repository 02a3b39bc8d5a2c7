// SPDX-License-Identifier: Apache-2.0
//
// Two processes on one file. The second one is this program again; its environment says what to
// do.

import Benchmark
import Foundation
import Keepsake
import Synchronization

/// The work of the second process, until it is killed.
enum OtherProcess {
  private static let role = "KEEPSAKE_BENCHMARK_ROLE"
  private static let file = "KEEPSAKE_BENCHMARK_FILE"

  static func start(_ name: String, _ path: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.environment = ProcessInfo.processInfo.environment.merging([role: name, file: path]) {
      $1
    }
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// In the second process: does its work, and never returns.
  static func runIfTold() {
    let environment = ProcessInfo.processInfo.environment
    guard let role = environment[role], let path = environment[file] else { return }
    do {
      let settings = try BenchmarkSettings(on: Device(path: path))
      switch role {
      case "write without a pause":
        for index in 0... { try settings.$username.write(texts[index % 2]) }
      default:
        while true {
          usleep(2_000)
          settings.count = Int(now())
        }
      }
    } catch {
      print(error)
    }
    exit(1)
  }

  /// Nanoseconds, by a clock that all processes share.
  static func now() -> UInt64 { clock_gettime_nsec() }

  private static func clock_gettime_nsec() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

func processBenchmarks() {
  row("two processes: a set beside one that writes without a pause", "ns waited") { add in
    let pair = try TwoProcesses("write without a pause")
    defer { pair.end() }
    for number in 0..<20_000 {
      let start = OtherProcess.now()
      try pair.settings.$count.write(number)
      add(Int(OtherProcess.now() - start))
    }
  }

  row("two processes: a set is heard in the other one", "ns until heard") { add in
    let pair = try TwoProcesses("write now and then")
    defer { pair.end() }
    for _ in 0..<2_000 { add(try pair.nextDelay()) }
  }
}

/// One run that takes many measurements itself.
private func row(
  _ name: String, _ unit: String, _ body: @escaping @Sendable ((Int) -> Void) throws -> Void
) {
  let metric = BenchmarkMetric.custom(unit, polarity: .prefersSmaller, useScalingFactor: false)
  Benchmark(
    name,
    configuration: .init(
      metrics: [metric], warmupIterations: 0, scalingFactor: .one, maxIterations: 1)
  ) { benchmark in
    try body { benchmark.measurement(metric, $0) }
  }
}

/// This process and a second one on one file.
private final class TwoProcesses: Sendable {
  let settings: BenchmarkSettings
  private let other: Process
  private let delays = Mutex<[Int]>([])
  private let news = DispatchSemaphore(value: 0)
  private let token = Mutex<ObservationToken?>(nil)

  init(_ role: String) throws {
    settings = try BenchmarkSettings(on: .temporary())
    other = try OtherProcess.start(role, settings.device.path)
    let observation = settings.observe("count") { [weak self] changes in
      let now = OtherProcess.now()
      guard let self, let change = changes.last, change.process == .other,
        case .integer(let sent)? = change.new
      else { return }
      delays.withLock { $0.append(Int(now) - Int(sent)) }
      news.signal()
    }
    token.withLock { $0 = observation }
  }

  struct Silence: Error {}

  func nextDelay() throws -> Int {
    guard news.wait(timeout: .now() + 10) == .success else { throw Silence() }
    return delays.withLock { $0.removeFirst() }
  }

  func end() { other.terminate() }
}
