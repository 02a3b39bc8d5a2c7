// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// One merge that is under way.
struct MergeRun {
  let options: MergeOptions
  let source: IdentitySource
  let hooks: MergeHooks
  /// What it has committed so far.
  var report = MergeReport()
  /// The files as they were before the merge, or after it has given them another replica ID.
  var sides: [MergeSide] = []

  init(
    _ devices: [Device], _ options: MergeOptions, _ source: IdentitySource, _ hooks: MergeHooks
  ) throws(KeepsakeError) {
    (self.options, self.source, self.hooks) = (options, source, hooks)
    for device in devices { sides.append(try MergeSide(device)) }
  }

  /// Merges, with leases on the files that it writes, unless nothing is new.
  mutating func run() throws(KeepsakeError) {
    if !options.isOneWay, hasNothingNew() { return try noteNothing() }
    try Device.leased(sides.map(\.device)) { () throws(KeepsakeError) in
      for place in sides.indices { sides[place] = try MergeSide(sides[place].device) }
      try check()
      try options.isOneWay ? mergeOneWay() : mergeBothWays()
    }
  }

  /// Reads one device into another.
  ///
  /// - Parameter finish: runs within the last transaction.
  mutating func run<Value>(
    _ pull: Pull, _ finish: (Connection, PullResult, GiverPage) throws -> Value
  ) throws(KeepsakeError) -> (PullResult, Value) {
    report.expect(from: pull.from, into: pull.into)
    let limit = max(options.changeLimit, 0)
    var result = PullResult(
      changes: limit - report.changes.count, losses: limit - report.conflicts.count,
      keepsAll: limit == .max)
    defer {
      if result.isReadAgain {
        report.events.append(.readInFull(device: pull.from, by: pull.into))
      }
      result.cutWaiting(options)
      report.add(result, from: pull.from, into: pull.into)
      report.waiting += result.waiting.prefix(max(limit - report.waiting.count, 0))
    }
    let value = try pull.run(&result, finish: finish)
    return (result, value)
  }

  /// The stores that this merge is about.
  var stores: [ByteText] { Self.stores(options.stores, of: sides) }

  /// - Parameter names: nil for all synced stores of which the files know anything.
  static func stores(_ names: [String]?, of sides: [MergeSide]) -> [ByteText] {
    if let names { return Set(names.map(ByteText.init)).sorted() }
    return sides.reduce(Set([ByteText(StoreName.cloud)])) { $0.union($1.stores) }.sorted()
  }
}

extension Pull {
  init(_ run: MergeRun, from: Int, into: Int, stores: [ByteText], inFull: Bool = false) {
    (giver, receiver) = (run.sides[from], run.sides[into])
    (self.from, self.into, self.stores) = (from, into, stores)
    (options, source, hooks) = (run.options, run.source, run.hooks)
    horizon = .horizon(now: receiver.device.clock.milliseconds, skew: options.clockSkew)
    self.inFull = inFull ? receiver.deletionsUnread(by: giver, stores) : []
  }
}
