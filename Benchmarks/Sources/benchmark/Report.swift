// SPDX-License-Identifier: Apache-2.0
//
// The table, printed as it grows, and kept for the file.

import Foundation

final class Report {
  private static let head = ["work", "Keepsake", "beside it", "its cost", "ratio", "rounds"]
  private static let widths = [46, 24, 38, 24, 18, 6]

  /// Lines of Markdown.
  private(set) var lines: [String] = []
  private(set) var plots: [Plot] = []
  /// Works of ours that could not be measured.
  private(set) var failed: [String] = []

  /// Starts the table of a group.
  func begin(_ group: String, _ note: String) {
    say("\n### \(group)\n\n\(note)\n")
    say(Self.line(Self.head))
    say(Self.line(Self.widths.map { String(repeating: "-", count: $0) }))
  }

  func run(_ race: Race) {
    race.run()
    for row in race.rows {
      for (index, measure) in race.measures.enumerated() { show(race, row, index, measure) }
    }
    if let growth = race.growth { keep(race, growth) }
  }

  private func show(_ race: Race, _ row: Race.Row, _ index: Int, _ measure: Measure) {
    let ours = race.figures[row.ours]?[index]
    if ours == nil { failed.append(row.work) }
    let work = row.work + measure.suffix
    let cost = Self.cell(ours, measure) ?? "**\(race.reason(row.ours))**"
    if row.beside.isEmpty { say(Self.line([work, cost, "–", "–", "–", "\(ours?.count ?? 0)"])) }
    for name in row.beside {
      let theirs = race.figures[name]?[index]
      let ratios = zip(ours ?? [], theirs ?? []).map { $0 / $1 }
      say(
        Self.line([
          work, cost, Race.shown(name), Self.cell(theirs, measure) ?? "*\(race.reason(name))*",
          Summary(ratios).map(Self.ratio) ?? "–", "\(max(ours?.count ?? 0, theirs?.count ?? 0))",
        ]))
    }
  }

  private func keep(_ race: Race, _ growth: Race.Growth) {
    for (index, measure) in race.measures.enumerated() {
      let title = growth.cost + measure.suffix
      let place =
        plots.firstIndex { $0.title == title && $0.axis == growth.axis }
        ?? {
          plots.append(Plot(title: title, axis: growth.axis, unit: measure.unit))
          return plots.count - 1
        }()
      for row in race.rows {
        for name in [row.ours] + row.beside {
          guard let values = race.figures[name]?[index], let summary = Summary(values) else {
            continue
          }
          plots[place].add(Race.shown(name), size: growth.size, summary.median)
        }
      }
    }
  }

  /// A row that has nobody to take part.
  func fail(_ work: String, _ reason: String) {
    failed.append(work)
    skip(work, reason)
  }

  /// A row that takes what is not on every machine.
  func skip(_ work: String, _ reason: String) {
    say(Self.line([work, "**\(reason)**", "", "", "–", "0"]))
  }

  func say(_ line: String) {
    lines.append(line)
    print(line)
    fflush(nil)
  }

  private static func line(_ cells: [String]) -> String {
    let padded = zip(cells, widths).map { cell, width in
      cell + String(repeating: " ", count: max(0, width - cell.count))
    }
    return "| \(padded.joined(separator: " | ")) |"
  }

  private static func cell(_ values: [Double]?, _ measure: Measure) -> String? {
    guard let summary = values.flatMap(Summary.init) else { return nil }
    let (divisor, unit) = scale(summary.median, measure.unit)
    let texts = [summary.median, summary.low, summary.high].map { number($0 / divisor) }
    return "\(texts[0]) \(unit) (\(texts[1])–\(texts[2]))"
  }

  private static func ratio(_ summary: Summary) -> String {
    let texts = [summary.median, summary.low, summary.high].map(number)
    return "\(texts[0]) (\(texts[1])–\(texts[2]))"
  }

  static func scale(_ value: Double, _ unit: Measure.Unit) -> (divisor: Double, name: String) {
    let steps: [(Double, String)] =
      switch unit {
      case .nanoseconds: [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")]
      case .bytes: [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")]
      }
    return steps.first { value >= $0.0 } ?? (1, steps[3].1)
  }

  /// Three digits, of small numbers two.
  static func number(_ value: Double) -> String {
    let formats = [(99.95, "%.0f"), (9.995, "%.1f"), (0.0995, "%.2f")]
    return String(format: formats.first { value >= $0.0 }?.1 ?? "%.2g", value)
  }
}

extension Race {
  func reason(_ name: String) -> String { absent[name] ?? "did not run" }
}
