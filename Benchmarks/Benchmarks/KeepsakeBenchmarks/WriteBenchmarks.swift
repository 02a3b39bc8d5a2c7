// SPDX-License-Identifier: Apache-2.0
//
// Each set, and the same statements through the C API alone, on a file of the same kind.

import Benchmark
import Foundation
import GRDBSQLite
import Keepsake

/// What a set does to the database: begin, read the old value, write, commit.
private final class RawSets {
  private let device: Device
  private let database: RawDatabase
  private let begin, commit, read, write: OpaquePointer?

  init(synchronous: String) throws {
    device = try Device.temporary()
    try UserDefaultsStore(on: device, arguments: .none).write("x", for: "username")
    database = try RawDatabase(device.path)
    try database.execute("PRAGMA synchronous = \(synchronous)")
    (begin, commit) = (try database.prepare("BEGIN IMMEDIATE"), try database.prepare("COMMIT"))
    read = try database.prepare(
      "SELECT tag, value, hlc, origin FROM entry WHERE store = 'defaults' AND key = 'username'")
    write = try database.prepare(
      """
      INSERT INTO entry SELECT 'defaults', 'username', 1, 'a string of thirty-two bytes ....',
        hlc + 1, origin, lseq + 1 FROM entry WHERE store = 'defaults' AND key = 'username'
      ON CONFLICT (store, key) DO UPDATE SET value = excluded.value, hlc = excluded.hlc,
        lseq = excluded.lseq WHERE excluded.hlc > entry.hlc
      """)
  }

  deinit { for statement in [begin, commit, read, write] { sqlite3_finalize(statement) } }

  func set() { transaction(1) }

  func transaction(_ count: Int) {
    run(begin)
    for _ in 0..<count {
      run(read)
      run(write)
    }
    run(commit)
  }
}

func writeBenchmarks() {
  for (name, durability, synchronous) in [
    ("crashSafe", Durability.crashSafe, "NORMAL"), ("powerSafe", .powerSafe, "FULL"),
  ] {
    Benchmark("set: \(name)") { benchmark in
      let settings = try BenchmarkSettings(
        on: .temporary(), arguments: .none, durability: durability)
      benchmark.startMeasurement()
      for index in benchmark.scaledIterations { settings.username = texts[index % 2] }
      // Excludes closing the file.
      benchmark.stopMeasurement()
      blackHole(settings)
    }

    Benchmark("set: \(name), the same statements by the C API") { benchmark in
      let raw = try RawSets(synchronous: synchronous)
      benchmark.startMeasurement()
      for _ in benchmark.scaledIterations { raw.set() }
      benchmark.stopMeasurement()
      blackHole(raw)
    }
  }

  Benchmark("set: 1,000 in a transaction", configuration: .init(scalingFactor: .one)) { benchmark in
    let settings = try BenchmarkSettings(on: .temporary())
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations {
      try settings.transaction {
        for index in 0..<1000 { settings.username = texts[index % 2] }
      }
    }
    benchmark.stopMeasurement()
    blackHole(settings)
  }

  Benchmark(
    "set: 1,000 in a transaction, the same statements by the C API",
    configuration: .init(scalingFactor: .one)
  ) { benchmark in
    let raw = try RawSets(synchronous: "NORMAL")
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { raw.transaction(1000) }
    benchmark.stopMeasurement()
    blackHole(raw)
  }

  Benchmark(
    "set: Foundation's UserDefaults and synchronize()", configuration: .init(scalingFactor: .one)
  ) { benchmark in
    let defaults = UserDefaults.standard
    for number in 0..<1000 { defaults.set(texts[0], forKey: "key \(number)") }
    benchmark.startMeasurement()
    for index in benchmark.scaledIterations {
      defaults.set(texts[index % 2], forKey: "username")
      defaults.synchronize()
    }
  }
}
