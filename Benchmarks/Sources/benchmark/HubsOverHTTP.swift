// SPDX-License-Identifier: Apache-2.0
//
// A hub as devices use it: a process of its own, whose devices are in a third one.

import Foundation

private let ours = "a hub over HTTP"
private let redis = "Redis, appendfsync always"
private let disk = "32 KiB written, fsync"

func hubsOverHTTP(_ report: Report) {
  let many = Scale.isQuick ? 100 : 3_000
  let few = Scale.isQuick ? 10 : 200
  report.run(
    race("push 10 rows by HTTP, 1,000 accounts at random, 64 at once", "pushes", many) {
      $0.enter(redis, Redis.init) { try $0.nanoseconds("mset", many, connections: 64) }
      return [redis]
    })
  overPostgres(report, "push 10 rows by HTTP, over PostgreSQL", many)
  for (work, kind) in [
    ("push a setting by HTTP", "push"), ("set a setting and merge with a hub", "single"),
  ] {
    report.run(
      race(work, kind, few) {
        $0.enter(disk) { try hubFigures(["file", "fsyncs", "\(few)"])[0] }
        $0.enter(redis, Redis.init) { try $0.nanoseconds("set", few, connections: 1) }
        return [disk, redis]
      })
  }
  report.run(
    race(
      "a set is heard on another device", "heard", few,
      [Measure(suffix: ", p50", unit: .nanoseconds), Measure(suffix: ", p99", unit: .nanoseconds)]))
  let rows = Scale.isQuick ? 1_000 : 100_000
  let words = Scale.name(rows)
  report.run(race("first merge with a hub, \(words) rows up", "up", rows))
  report.run(race("first merge with a hub, \(words) rows down", "down", rows))
  report.run(race("merge with a hub without news, \(words) rows", "nothing", rows))
  report.run(
    race(
      "idle listeners, 1,000", "listeners", Scale.isQuick ? 40 : 1_000,
      [
        Measure(suffix: ", memory of each", unit: .bytes),
        Measure(suffix: ", processor time of all in a second", unit: .nanoseconds),
      ], rounds: 1...1))
}

/// - Parameter enter: lets others take part, and names them.
private func race(
  _ work: String, _ kind: String, _ count: Int, _ measures: [Measure] = [.time],
  rounds: ClosedRange<Int> = 3...9, _ enter: (Race) -> [String] = { _ in [] }
) -> Race {
  let race = Race(measures, rounds: rounds, seconds: 4, warmsUp: false)
  race.enter(ours, { try Command.kvsync + "-hub" }) {
    try hubFigures(["http", kind, "\(count)", $0])
  }
  race.row(work, ours, beside: enter(race))
  return race
}

/// A server of Redis that has each command on the disk before it answers.
private final class Redis {
  private let process = Process()
  private let socket: String
  private let client: String

  init() throws {
    client = try Command.find("redis-benchmark")
    let folder = Files.new("-redis")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    socket = folder + "/socket"
    process.executableURL = URL(fileURLWithPath: try Command.find("redis-server"))
    process.arguments = [
      "--port", "0", "--unixsocket", socket, "--dir", folder, "--save", "", "--appendonly", "yes",
      "--appendfsync", "always",
    ]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    for _ in 0..<500 where !FileManager.default.fileExists(atPath: socket) { usleep(10_000) }
  }

  deinit { process.terminate() }

  /// - Parameter command: `set`, or `mset`, which sets ten keys.
  func nanoseconds(_ command: String, _ count: Int, connections: Int) throws -> Double {
    let words = [
      client, "-s", socket, "-t", command, "-n", "\(count)", "-c", "\(connections)", "-d", "80",
      "-r", "1000000", "--csv",
    ]
    let line = try Command.run(words).split(separator: "\n").last ?? ""
    let columns = line.split(separator: ",").map { $0.filter { $0 != "\"" } }
    guard columns.count > 1, let each = Double(columns[1]) else {
      throw Failure("redis-benchmark says \(line)")
    }
    return 1e9 / each
  }
}
