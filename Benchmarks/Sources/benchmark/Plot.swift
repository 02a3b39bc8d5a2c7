// SPDX-License-Identifier: Apache-2.0
//
// How a cost grows, as SVG: both axes logarithmic, on a ground of its own that follows the reader's
// colours, so that it can be read on a dark page as on a light one.

import Foundation

struct Plot {
  let title: String
  let axis: Race.Growth.Axis
  let unit: Measure.Unit
  /// In the order of the table.
  private(set) var series: [(name: String, points: [(size: Int, cost: Double)])] = []

  init(title: String, axis: Race.Growth.Axis, unit: Measure.Unit) {
    (self.title, self.axis, self.unit) = (title, axis, unit)
  }

  var caption: String { "\(title), by the number of \(axis.rawValue)" }

  /// A name for a file.
  var fileName: String {
    let words = (axis == .keys ? title : caption).lowercased().filter { $0 != "," }
      .split { !$0.isLetter && !$0.isNumber }
    return words.joined(separator: "-") + ".svg"
  }

  mutating func add(_ name: String, size: Int, _ cost: Double) {
    guard let place = series.firstIndex(where: { $0.name == name }) else {
      return series.append((name, [(size, cost)]))
    }
    guard !series[place].points.contains(where: { $0.size == size }) else { return }
    series[place].points.append((size, cost))
  }

  /// By how a name begins, so that one is found again in every plot. Each has a contrast of 3 or
  /// more on white and on the dark ground.
  private static let colours = [
    ("Keepsake", "#d9480f"), ("kvsync --version", "#1a9850"), ("kvsync", "#d9480f"),
    ("UserDefaults", "#2f81f7"), ("GRDB", "#9b59d0"), ("LMDB", "#1192a8"), ("LevelDB", "#b8860b"),
    ("JSON", "#1a9850"), ("SQLite", "#d6409f"), ("sqlite3", "#d6409f"), ("an upsert", "#d6409f"),
  ]

  private static func colour(_ name: String) -> String {
    colours.first { name.hasPrefix($0.0) }?.1 ?? "#7d8590"
  }
  private static let frame = (left: 74.0, top: 44.0, right: 520.0, bottom: 350.0)

  private var costs: ClosedRange<Double> {
    let all = series.flatMap(\.points).map { log10(max($0.cost, 1)) }
    let (low, high) = ((all.min() ?? 0).rounded(.down), (all.max() ?? 1).rounded(.up))
    return low...max(high, low + 1)
  }

  /// As powers of the base of the scale.
  private var sizes: ClosedRange<Double> {
    let all = series.flatMap(\.points).map { exponent($0.size) }
    let low = all.min() ?? 0
    return low...max(all.max() ?? 0, low + 1)
  }

  /// Threads are counted by twos.
  private var base: Double { axis == .threads ? 2 : 10 }

  private func exponent(_ size: Int) -> Double { log2(Double(size)) / log2(base) }

  private func x(_ exponent: Double) -> Double {
    let part = (exponent - sizes.lowerBound) / (sizes.upperBound - sizes.lowerBound)
    return Self.frame.left + part * (Self.frame.right - Self.frame.left)
  }

  private func y(_ exponent: Double) -> Double {
    let part = (exponent - costs.lowerBound) / (costs.upperBound - costs.lowerBound)
    return Self.frame.bottom - part * (Self.frame.bottom - Self.frame.top)
  }

  var svg: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 400" width="800" height="400" \
    role="img" aria-label="\(Self.escaped(caption))">
    <style>
    rect { fill: #ffffff }
    text { fill: #24292f; font: 13px sans-serif }
    .title { font-weight: bold; font-size: 15px }
    .grid { stroke: #d0d7de }
    polyline { fill: none; stroke-width: 2 }
    @media (prefers-color-scheme: dark) {
      rect { fill: #0d1117 }
      text { fill: #e6edf3 }
      .grid { stroke: #30363d }
    }
    </style>
    <rect width="800" height="400" rx="6"/>
    <text class="title" x="\(Self.frame.left)" y="26">\(Self.escaped(title))</text>
    \((axes + lines).joined(separator: "\n"))
    </svg>

    """
  }

  private var axes: [String] {
    let (left, top, right, bottom) = Self.frame
    let rules = stride(from: costs.lowerBound, through: costs.upperBound, by: 1).map { exponent in
      let (divisor, name) = Report.scale(pow(10, exponent) * 1.000001, unit)
      let label = String(format: "%.0f %@", pow(10, exponent) / divisor, name)
      return """
        <line class="grid" x1="\(left)" y1="\(place(y(exponent)))" x2="\(right)" \
        y2="\(place(y(exponent)))"/>
        <text x="\(left - 8)" y="\(place(y(exponent) + 4))" text-anchor="end">\(label)</text>
        """
    }
    let columns = stride(from: sizes.lowerBound, through: sizes.upperBound, by: 1).map { exponent in
      """
      <line class="grid" x1="\(place(x(exponent)))" y1="\(top)" x2="\(place(x(exponent)))" \
      y2="\(bottom)"/>
      <text x="\(place(x(exponent)))" y="\(bottom + 20)" text-anchor="middle">\
      \(Int(pow(base, exponent).rounded()).formatted(.number.locale(Locale(identifier: "en_US"))))\
      </text>
      """
    }
    return rules + columns + [
      """
      <text x="\((left + right) / 2)" y="\(bottom + 40)" text-anchor="middle">\
      \(axis.rawValue)</text>
      """
    ]
  }

  private var lines: [String] {
    // Names stand where their lines end, apart from each other.
    let last = series.map { $0.points.max { $0.size < $1.size }?.cost ?? 1 }
    let ends = last.enumerated().map { (index: $0, y: y(log10(max($1, 1)))) }
      .sorted { $0.y < $1.y }
    var labels: [Int: Double] = [:]
    var lowest = -Double.infinity
    for end in ends {
      lowest = max(end.y, lowest + 16)
      labels[end.index] = lowest
    }
    let tooLow = max(0, lowest - Self.frame.bottom)
    return series.enumerated().map { index, line in
      let colour = Self.colour(line.name)
      let points = line.points.sorted { $0.size < $1.size }.map {
        (place(x(exponent($0.size))), place(y(log10(max($0.cost, 1)))))
      }
      let dots = points.map { "<circle cx=\"\($0.0)\" cy=\"\($0.1)\" r=\"3\" fill=\"\(colour)\"/>" }
      let label = place((labels[index] ?? 0) - tooLow + 4)
      return """
        <polyline stroke="\(colour)"\(index == 0 ? " style=\"stroke-width: 3\"" : "") \
        points="\(points.map { "\($0.0),\($0.1)" }.joined(separator: " "))"/>
        \(dots.joined())
        <text x="\(Self.frame.right + 12)" y="\(label)" style="fill: \(colour)">\
        \(Self.escaped(line.name))</text>
        """
    }
  }

  private func place(_ value: Double) -> String { String(format: "%.1f", value) }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}
