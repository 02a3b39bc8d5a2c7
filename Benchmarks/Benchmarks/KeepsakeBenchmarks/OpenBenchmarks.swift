// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Foundation
import GRDBSQLite
import Keepsake

/// Files with many values of thirty-two bytes, created once for all rows of a run.
private enum Fixtures {
  static let thousand = Result { try make(1_000) }
  static let hundredThousand = Result { try make(100_000) }
  static let million = Result { try make(1_000_000) }

  private static func make(_ count: Int) throws -> Device {
    let device = try Device.temporary()
    let raw = try RawDatabase(device.path)
    try raw.execute(
      """
      INSERT INTO entry SELECT 'defaults', printf('key %07d', value), 1,
        printf('a string of thirty-two %09d', value), value << 40, 1, value
      FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n
        WHERE value < \(count)) SELECT value FROM n);
      PRAGMA wal_checkpoint(TRUNCATE);
      """)
    return device
  }
}

func openBenchmarks() {
  let rows = [
    ("1,000", Fixtures.thousand, Benchmark.Configuration(scalingFactor: .one)),
    ("1,000,000", Fixtures.million, Benchmark.Configuration(scalingFactor: .one)),
  ]
  for (count, fixture, configuration) in rows {
    Benchmark("open: warm, and read one of \(count) keys", configuration: configuration) {
      benchmark in
      // A copy at another path: one path would share the open device.
      let path = try copy(fixture.get())
      defer { remove(path) }
      benchmark.startMeasurement()
      let settings = try BenchmarkSettings(on: Device(path: path))
      blackHole(settings.string(forKey: "key 0000500"))
      benchmark.stopMeasurement()
      blackHole(settings)
    }

    Benchmark("open: limit, SQLite by the C API, \(count) keys", configuration: configuration) {
      benchmark in
      let path = try copy(fixture.get())
      defer { remove(path) }
      benchmark.startMeasurement()
      let raw = try RawDatabase(path)
      let read = try raw.prepare(
        "SELECT value FROM entry WHERE store = 'defaults' AND key = 'key 0000500'")
      sqlite3_step(read)
      benchmark.stopMeasurement()
      sqlite3_finalize(read)
      blackHole(raw)
    }
  }

  Benchmark(
    "memory: 100,000 keys of 32 bytes, all read",
    configuration: .init(
      metrics: [.custom("kB resident", polarity: .prefersSmaller, useScalingFactor: false)],
      warmupIterations: 0, scalingFactor: .one, maxIterations: 1)
  ) { benchmark in
    let path = try copy(Fixtures.hundredThousand.get())
    defer { remove(path) }
    let before = residentKilobytes()
    let settings = try BenchmarkSettings(on: Device(path: path))
    for number in 1...100_000 {
      let digits = String(number)
      let key = "key " + String(repeating: "0", count: 7 - digits.count) + digits
      blackHole(settings.string(forKey: key))
    }
    benchmark.measurement(
      .custom("kB resident", polarity: .prefersSmaller, useScalingFactor: false),
      residentKilobytes() - before)
    blackHole(settings)
  }
}

private func copy(_ device: Device) throws -> String {
  let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).keepsake"
  try device.backup(to: URL(fileURLWithPath: path))
  // The first open creates the log of the copy.
  _ = try BenchmarkSettings(on: Device(path: path)).count
  return path
}

private func remove(_ path: String) {
  for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
}

/// The resident memory of the process, with the pages of mapped files that were read.
private func residentKilobytes() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  fgets(&line, 256, file)
  let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self).split(
    separator: " ")
  return words.count > 1 ? (Int(words[1]) ?? 0) * 4 : 0
}
