// SPDX-License-Identifier: Apache-2.0
//
// Who is compared works in turn, a short round each, so that what else the machine does meets all
// of them: about a millisecond, where the work allows it, so that most rounds are over before the
// scheduler looks for another process. A ratio is taken within each round; medians and quartiles
// are of the rounds.

import Foundation

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// What a round tells: one or several figures.
struct Measure {
  enum Unit { case nanoseconds, bytes }

  /// Follows the name of the work.
  let suffix: String
  let unit: Unit

  static let time = Measure(suffix: "", unit: .nanoseconds)
  static let peak = Measure(suffix: ", memory at its peak", unit: .bytes)
}

final class Race {
  struct Contender {
    let name: String
    let round: () throws -> [Double]
  }

  struct Row {
    let work: String
    let ours: String
    let beside: [String]
  }

  /// What a plot shows: how the cost grows with the number of keys, or of something else.
  struct Growth {
    enum Axis: String { case keys, threads, stores, observers }

    let cost: String
    let axis: Axis
    let size: Int

    init(cost: String, keys: Int) { self.init(cost: cost, .keys, keys) }

    init(cost: String, _ axis: Axis, _ size: Int) {
      (self.cost, self.axis, self.size) = (cost, axis, size)
    }
  }

  let measures: [Measure]
  let growth: Growth?
  private let fewest, most: Int
  private let seconds: Double
  private let warmsUp: Bool
  private(set) var rows: [Row] = []
  private var contenders: [Contender] = []
  /// By contender: why it does not run.
  private(set) var absent: [String: String] = [:]
  /// By contender and measure, one figure a round.
  private(set) var figures: [String: [[Double]]] = [:]

  /// - Parameters:
  ///   - rounds: from the fewest to the most; between them `seconds` decide.
  ///   - warmsUp: whether a round goes first that does not count.
  init(
    _ measures: [Measure] = [.time], rounds: ClosedRange<Int> = 9...61, seconds: Double = 3,
    warmsUp: Bool = true, growth: Growth? = nil
  ) {
    self.measures = measures
    (fewest, most) = (rounds.lowerBound, rounds.upperBound)
    self.seconds = seconds * Scale.time
    self.warmsUp = warmsUp
    self.growth = growth
  }

  /// Lets a contender take part; one that cannot be made is in the table with the reason.
  func enter<Subject>(
    _ name: String, _ make: () throws -> Subject, _ round: @escaping (Subject) throws -> [Double]
  ) {
    do {
      let subject = try make()
      contenders.append(Contender(name: name) { try round(subject) })
    } catch {
      absent[name] = "\(error)"
    }
  }

  func enter(_ name: String, _ round: @escaping () throws -> Double) {
    contenders.append(Contender(name: name) { [try round()] })
  }

  func enter<Subject>(
    _ name: String, _ make: () throws -> Subject, _ round: @escaping (Subject) throws -> Double
  ) {
    enter(name, make) { [try round($0)] }
  }

  func leaveOut(_ name: String, _ reason: String) { absent[name] = reason }

  /// What the table is to show: a work of ours, and who does the same.
  func row(_ work: String, _ ours: String, beside: [String]) {
    rows.append(Row(work: work, ours: ours, beside: beside))
  }

  /// What follows a colon tells contenders of one race apart, and is not shown.
  static func shown(_ name: String) -> String { String(name.prefix { $0 != ":" }) }

  func run() {
    // What was made for this race is on the disk before it begins.
    sync()
    let start = now()
    var order = FixedOrder()
    if warmsUp { for contender in contenders { take(contender, counts: false) } }
    for round in 0..<most {
      if round >= fewest, Double(now() - start) > seconds * 1e9 { break }
      // In another order each time: nobody always follows the same.
      for contender in contenders.shuffled(using: &order) { take(contender) }
    }
  }

  private func take(_ contender: Contender, counts: Bool = true) {
    guard absent[contender.name] == nil else { return }
    do {
      let result = try contender.round()
      guard counts else { return }
      for (index, figure) in result.enumerated() {
        figures[contender.name, default: measures.map { _ in [] }][index].append(figure)
      }
    } catch {
      absent[contender.name] = "\(error)"
      figures[contender.name] = nil
    }
  }
}

/// Random numbers that are the same in each run: SplitMix64.
private struct FixedOrder: RandomNumberGenerator {
  private var state: UInt64 = 1

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Median and quartiles.
struct Summary {
  let low, median, high: Double
  let count: Int

  init?(_ values: [Double]) {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    func at(_ part: Double) -> Double {
      let place = part * Double(sorted.count - 1)
      let (lower, upper) = (Int(place), min(Int(place) + 1, sorted.count - 1))
      return sorted[lower] + (place - Double(lower)) * (sorted[upper] - sorted[lower])
    }
    (low, median, high, count) = (at(0.25), at(0.5), at(0.75), sorted.count)
  }
}

/// Nanoseconds by a clock that all processes share.
func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// Nanoseconds that one of `count` runs takes.
@inline(__always)
func nanoseconds(_ count: Int = 1, _ body: (Int) throws -> Void) rethrows -> Double {
  let start = now()
  for index in 0..<count { try body(index) }
  return Double(now() - start) / Double(count)
}

/// Uses a value, for all that the optimiser knows.
@inline(never) @_optimize(none)
func blackHole<Value>(_ value: Value) {}
