// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Foundation
import GRDBSQLite
import Keepsake

/// The files of two devices with the same keys and different values, half of each newer.
private final class Pair {
  static let count = 1_000_000
  let paths: [String]
  private let folder: String

  /// - Parameters:
  ///   - counts: the number of keys of each.
  ///   - isScattered: whether the order of arrival differs from the order of the keys.
  init(_ counts: [Int] = [count, count], isScattered: Bool = false) throws {
    let folder = NSTemporaryDirectory() + UUID().uuidString
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    paths = (0..<2).map { "\(folder)/\($0).keepsake" }
    let arrival = isScattered ? "i * 7368787 % \(Self.count)" : "i"
    for (side, path) in paths.enumerated() {
      _ = try Device(path: path)
      try RawDatabase(path).execute(
        """
        PRAGMA synchronous = OFF;
        WITH RECURSIVE n (i) AS (
          SELECT 0 WHERE \(counts[side]) > 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(counts[side]))
        INSERT INTO entry SELECT 'cloud', printf('key-%06d', i), 1,
          printf('\(side) value of thirty-two bytes %06d', i),
          (1700000000000 + 2 * ((i + \(side)) % 2)) << 16, (SELECT id FROM replica), \(arrival) + 1
        FROM n;
        PRAGMA wal_checkpoint (TRUNCATE);
        """)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func devices() throws -> [Device] { try paths.map { try Device(path: $0) } }

  /// Writes 1,000 keys again on the first device, spread over all of them.
  func change(_ round: Int) throws {
    try RawDatabase(paths[0]).execute(
      """
      UPDATE entry SET hlc = hlc + (10 << 16), origin = (SELECT id FROM replica), lseq =
        (SELECT max(lseq) FROM entry) + 1 + CAST(substr(key, 5) AS INTEGER)
      WHERE store = 'cloud' AND key IN (
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
        SELECT printf('key-%06d', (i * 7368787 + \(round)) % \(Self.count)) FROM n)
      """)
  }

  func lastArrival(_ side: Int) throws -> Int64 {
    let raw = try RawDatabase(paths[side])
    let statement = try raw.prepare("SELECT ifnull(max(lseq), 0) FROM entry")
    defer { sqlite3_finalize(statement) }
    sqlite3_step(statement)
    return sqlite3_column_int64(statement, 0)
  }

  /// The limit: one statement through the C API, from the first file into the second.
  ///
  /// - Parameter rows: the FROM clause.
  func upsert(_ rows: String, from: Int = 0, into: Int = 1) throws {
    let base = try lastArrival(into)
    try RawDatabase(paths[into]).execute(
      """
      PRAGMA synchronous = NORMAL;
      ATTACH 'file:\(paths[from])?mode=ro' AS sender;
      BEGIN IMMEDIATE;
      INSERT INTO main.entry
      SELECT store, key, tag, value, hlc, origin,
        \(base) + lseq \(rows)
      ON CONFLICT (store, key) DO UPDATE SET tag = excluded.tag, value = excluded.value,
        hlc = excluded.hlc, origin = excluded.origin, lseq = excluded.lseq
      WHERE (excluded.hlc, excluded.origin) > (entry.hlc, entry.origin);
      COMMIT;
      """)
  }
}

func mergeBenchmarks() {
  let options = Benchmark.Configuration(
    metrics: [.wallClock, .cpuTotal, .peakMemoryResident], warmupIterations: 0,
    scalingFactor: .one, maxDuration: .seconds(60), maxIterations: 3)
  let all = "FROM sender.entry NOT INDEXED WHERE true"

  for isScattered in [false, true] {
    let name = "merge: 1,000,000\(isScattered ? " scattered" : "") keys on each side, both ways"
    Benchmark(name, configuration: options) { benchmark in
      let pair = try Pair(isScattered: isScattered)
      benchmark.startMeasurement()
      let devices = try pair.devices()
      try devices[0].merge(with: devices[1])
      benchmark.stopMeasurement()
    }
    Benchmark("\(name): raw upsert", configuration: options) { benchmark in
      let pair = try Pair(isScattered: isScattered)
      benchmark.startMeasurement()
      try pair.upsert(all)
      try pair.upsert(all, from: 1, into: 0)
      benchmark.stopMeasurement()
    }
  }

  Benchmark("merge: 1,000,000 keys into an empty device", configuration: options) { benchmark in
    let pair = try Pair([Pair.count, 0])
    benchmark.startMeasurement()
    let devices = try pair.devices()
    try devices[0].merge(with: devices[1])
    benchmark.stopMeasurement()
  }
  Benchmark(
    "merge: 1,000,000 keys into an empty device: raw upsert", configuration: options
  ) { benchmark in
    let pair = try Pair([Pair.count, 0])
    benchmark.startMeasurement()
    try pair.upsert(all)
    benchmark.stopMeasurement()
  }

  incrementalBenchmarks()
}

private func incrementalBenchmarks() {
  let options = Benchmark.Configuration(
    metrics: [.wallClock, .cpuTotal], warmupIterations: 1, scalingFactor: .one,
    maxDuration: .seconds(20), maxIterations: 20)
  /// Two devices that have synced.
  let met = Result {
    let pair = try Pair()
    let devices = try pair.devices()
    try devices[0].merge(with: devices[1])
    return pair
  }

  Benchmark("merge: nothing to do, 1,000,000 keys", configuration: options) { benchmark in
    let devices = try met.get().devices()
    benchmark.startMeasurement()
    try devices[0].merge(with: devices[1])
    benchmark.stopMeasurement()
  }
  Benchmark("merge: nothing to do: raw upsert", configuration: options) { benchmark in
    let pair = try met.get()
    benchmark.startMeasurement()
    try pair.upsert("FROM sender.entry WHERE lseq > (SELECT max(lseq) FROM sender.entry)")
    benchmark.stopMeasurement()
  }
  Benchmark("merge: 1,000 changes in 1,000,000 keys", configuration: options) { benchmark in
    let pair = try met.get()
    try pair.change(benchmark.currentIteration)
    benchmark.startMeasurement()
    let devices = try pair.devices()
    try devices[0].merge(with: devices[1])
    benchmark.stopMeasurement()
  }
  Benchmark("merge: 1,000 changes in 1,000,000 keys: raw upsert", configuration: options) {
    benchmark in
    let pair = try met.get()
    let before = try pair.lastArrival(0)
    try pair.change(1000 + benchmark.currentIteration)
    benchmark.startMeasurement()
    try pair.upsert("FROM sender.entry INDEXED BY entry_lseq WHERE lseq > \(before)")
    benchmark.stopMeasurement()
  }
}
