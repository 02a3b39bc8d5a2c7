// SPDX-License-Identifier: Apache-2.0
//
// 10 MB of a Settings bundle: 100 runs per second are 1,000 MB/s.

import Benchmark
import Foundation
@_spi(Benchmarks) import KeepsakeSettingsBundle

func propertyListBenchmarks() {
  let options = Benchmark.Configuration(
    metrics: [.wallClock, .throughput, .peakMemoryResident], warmupIterations: 1,
    scalingFactor: .one, maxDuration: .seconds(5))
  let bytes = settingsFile(10_000_000)

  Benchmark("plist: parse 10 MB to a tree with places", configuration: options) { _ in
    blackHole(try PropertyListBenchmark(parsing: bytes))
  }

  Benchmark("plist: Foundation parses the same", configuration: options) { benchmark in
    let data = Data(bytes)
    benchmark.startMeasurement()
    blackHole(try PropertyListSerialization.propertyList(from: data, format: nil))
  }

  Benchmark("plist: the limit, a look at each byte", configuration: options) { _ in
    blackHole(bytes.reduce(into: UInt8(0)) { $0 ^= $1 })
  }
}

/// A pane that repeats one row of each type, formatted as by Xcode.
private func settingsFile(_ size: Int) -> [UInt8] {
  let types: [(String, [(String, String)])] = [
    ("Group", [("FooterText", "<string>What these are for, &amp; a few words more, é.</string>")]),
    ("ToggleSwitch", [("DefaultValue", "<true/>")]),
    (
      "Slider",
      [
        ("DefaultValue", "<real>0.5</real>"), ("MinimumValue", "<integer>0</integer>"),
        ("MaximumValue", "<integer>1</integer>"),
      ]
    ),
    (
      "TextField",
      [("DefaultValue", "<string>value</string>"), ("KeyboardType", "<string>Alphabet</string>")]
    ),
    ("MultiValue", [("DefaultValue", "<integer>1</integer>"), ("Values", list), ("Titles", list)]),
  ]
  var text =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n"
    + "\t<key>PreferenceSpecifiers</key>\n\t<array>\n"
  var count = 0
  while text.utf8.count < size {
    let (type, members) = types[count % types.count]
    let common = [
      ("Type", "<string>PS\(type)Specifier</string>"), ("Title", "<string>Row \(count)</string>"),
      ("Key", "<string>row_\(count)</string>"),
    ]
    let lines = (common + members).map { "\t\t\t<key>\($0)</key>\n\t\t\t\($1)\n" }
    text += "\t\t<dict>\n\(lines.joined())\t\t</dict>\n"
    count += 1
  }
  return Array((text + "\t</array>\n</dict>\n</plist>\n").utf8)
}

private let list =
  "<array>\n\t\t\t\t<integer>1</integer>\n\t\t\t\t<integer>2</integer>\n\t\t\t</array>"
