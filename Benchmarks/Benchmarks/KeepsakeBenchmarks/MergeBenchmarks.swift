// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Foundation
import Keepsake

/// Two device files with the same 100,000 keys and different values, half of each newer.
struct Pair {
  static let count = 100_000
  let devices: [Device]

  init() throws {
    devices = try (0..<2).map { side in
      let device = try Device.temporary()
      let raw = try RawDatabase(device.path)
      try raw.execute(
        """
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(Self.count))
        INSERT INTO entry SELECT 'cloud', printf('key-%06d', i), 1,
          printf('\(side) value of thirty-two bytes %06d', i),
          (1700000000000 + 2 * ((i + \(side)) % 2)) << 16, (SELECT id FROM replica), i + 1 FROM n
        """)
      return device
    }
  }
}

func mergeBenchmarks() {
  let options = Benchmark.Configuration(
    metrics: [.wallClock], scalingFactor: .one, maxDuration: .seconds(20))

  Benchmark("merge: 100,000 keys each, both ways", configuration: options) { benchmark in
    let pair = try Pair()
    benchmark.startMeasurement()
    try pair.devices[0].merge(with: pair.devices[1])
    benchmark.stopMeasurement()
  }

  Benchmark("merge: nothing to do", configuration: options) { benchmark in
    let pair = try Pair()
    try pair.devices[0].merge(with: pair.devices[1])
    benchmark.startMeasurement()
    try pair.devices[0].merge(with: pair.devices[1])
    benchmark.stopMeasurement()
  }

  Benchmark("merge: raw upsert by the C API, both ways", configuration: options) { benchmark in
    let pair = try Pair()
    let paths = pair.devices.map(\.path)
    benchmark.startMeasurement()
    for (from, into) in [(0, 1), (1, 0)] {
      let raw = try RawDatabase(paths[into])
      try raw.execute(
        """
        PRAGMA synchronous = NORMAL;
        ATTACH 'file:\(paths[from])?mode=ro' AS sender;
        BEGIN IMMEDIATE;
        INSERT INTO entry SELECT store, key, tag, value, hlc, origin, \(Pair.count) + lseq
        FROM sender.entry NOT INDEXED WHERE true
        ON CONFLICT (store, key) DO UPDATE SET tag = excluded.tag, value = excluded.value,
          hlc = excluded.hlc, origin = excluded.origin, lseq = excluded.lseq
        WHERE (excluded.hlc, excluded.origin) > (entry.hlc, entry.origin);
        COMMIT;
        """)
    }
    benchmark.stopMeasurement()
    // The folders go with the devices.
    withExtendedLifetime(pair) {}
  }
}
