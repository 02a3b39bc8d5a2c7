// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Foundation
import GRDBSQLite
import Keepsake

final class BenchmarkSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var username = "guest"
}

func settingBenchmarks() {
  Benchmark("read: typed setting") { benchmark in
    let settings = try BenchmarkSettings(on: .temporary())
    settings.username = "a string of thirty-two bytes ...."
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { blackHole(settings.username) }
  }

  Benchmark("set: typed setting, durable") { benchmark in
    let settings = try BenchmarkSettings(on: .temporary())
    let values = (0..<2).map { "a string of thirty-two bytes ...\($0)" }
    benchmark.startMeasurement()
    for index in benchmark.scaledIterations { settings.username = values[index % 2] }
  }

  Benchmark("set: the same row by the C API") { benchmark in
    let device = try Device.temporary()
    try UserDefaultsStore(on: device).set("x", for: "username")
    let raw = try RawDatabase(device.path)
    try raw.execute("PRAGMA synchronous = NORMAL")
    let (begin, commit) = (try raw.prepare("BEGIN IMMEDIATE"), try raw.prepare("COMMIT"))
    let read = try raw.prepare(
      "SELECT tag, value, hlc, origin FROM entry WHERE store = 'defaults' AND key = 'username'")
    let write = try raw.prepare(
      """
      INSERT INTO entry SELECT 'defaults', 'username', 1, 'a string of thirty-two bytes ....',
        hlc + 1, origin, lseq + 1 FROM entry WHERE store = 'defaults' AND key = 'username'
      ON CONFLICT (store, key) DO UPDATE SET value = excluded.value, hlc = excluded.hlc,
        lseq = excluded.lseq WHERE excluded.hlc > entry.hlc
      """)
    defer { for statement in [begin, commit, read, write] { sqlite3_finalize(statement) } }
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations {
      for statement in [begin, read, write, commit] { run(statement) }
    }
  }
}
