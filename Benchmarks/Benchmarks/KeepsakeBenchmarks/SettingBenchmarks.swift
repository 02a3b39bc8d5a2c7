// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Foundation
import Keepsake
import Synchronization

final class BenchmarkSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var username = "guest"
  @Setting var count = 0

  convenience init(on device: Device) throws {
    try self.init(on: device, arguments: .none)
  }
}

struct BenchmarkPreferences: Codable {
  var name = "guest"
  var volume = 5
  var tags = ["a", "b"]
}

final class StructuredSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting(fields: "prefs.") var preferences = BenchmarkPreferences()
}

extension SettingKey where Value == Int {
  /// Made at each use.
  static var count: Self { Self("count", default: 0) }
}

/// Made once.
let keptKey = SettingKey("count", default: 0)

/// Two different texts of thirty-two bytes.
let texts = (0..<2).map { "a string of thirty-two bytes ...\($0)" }.map { String($0.dropFirst()) }

func readBenchmarks() {
  // Enough iterations to make the first read, from the file, negligible.
  let reading = Benchmark.Configuration(scalingFactor: .mega)
  Benchmark("read: typed String", configuration: reading) { benchmark in
    let settings = try BenchmarkSettings(on: .temporary())
    settings.username = texts[0]
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { blackHole(settings.username) }
    benchmark.stopMeasurement()
    blackHole(settings)
  }

  Benchmark("read: typed Int", configuration: reading) { benchmark in
    let settings = try BenchmarkSettings(on: .temporary())
    settings.count = 5
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { blackHole(settings.count) }
    benchmark.stopMeasurement()
    blackHole(settings)
  }

  for (name, key) in [("made at each use", nil), ("kept", keptKey)] {
    Benchmark("read: by a SettingKey, \(name)", configuration: reading) { benchmark in
      let settings = try BenchmarkSettings(on: .temporary())
      settings.count = 5
      benchmark.startMeasurement()
      for _ in benchmark.scaledIterations { blackHole(settings[key ?? .count]) }
      benchmark.stopMeasurement()
      blackHole(settings)
    }
  }

  Benchmark("read: a structure member by member", configuration: reading) { benchmark in
    let settings = try StructuredSettings(on: .temporary(), arguments: .none)
    settings.preferences.volume = 6
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { blackHole(settings.preferences) }
    benchmark.stopMeasurement()
    blackHole(settings)
  }

  Benchmark("read: string(forKey:)", configuration: reading) { benchmark in
    let settings = try BenchmarkSettings(on: .temporary())
    settings.username = texts[0]
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { blackHole(settings.string(forKey: "username")) }
    benchmark.stopMeasurement()
    blackHole(settings)
  }

  Benchmark("read: limit, a lock and a dictionary", configuration: reading) { benchmark in
    let values = Mutex(["username": texts[0]])
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { blackHole(values.withLock { $0["username"] }) }
  }

  Benchmark("read: Foundation's UserDefaults") { benchmark in
    let defaults = UserDefaults.standard
    defaults.set(texts[0], forKey: "username")
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { blackHole(defaults.string(forKey: "username")) }
    benchmark.stopMeasurement()
    blackHole(defaults)
  }
}
