// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// One merge that is under way.
struct MergeRun {
  let devices: [Device]
  let options: MergeOptions
  let source: IdentitySource
  let hooks: MergeHooks
  /// What it has committed so far.
  var report = MergeReport()
  /// The devices as they were before the merge, or after it has given them another replica ID.
  var sides: [MergeSide] = []

  init(
    _ devices: [Device], _ options: MergeOptions, _ source: IdentitySource, _ hooks: MergeHooks
  ) throws(KeepsakeError) {
    (self.devices, self.options, self.source, self.hooks) = (devices, options, source, hooks)
    for device in devices { sides.append(try MergeSide(device)) }
  }

  /// Merges, with leases on the files that it writes, unless nothing is new.
  mutating func run() throws(KeepsakeError) {
    if !options.isOneWay, hasNothingNew() { return try noteNothing() }
    try Lease.hold(devices.map(\.core.storage)) { () throws(KeepsakeError) in
      for place in devices.indices { try refresh(place) }
      try check()
      try options.isOneWay ? mergeOneWay() : mergeBothWays()
    }
  }

  /// Reads again what the merge knows of a file, if the file has changed since.
  mutating func refresh(_ place: Int) throws(KeepsakeError) {
    if !sides[place].isNow(devices[place]) { sides[place] = try MergeSide(devices[place]) }
  }

  /// Reads one device into another.
  ///
  /// - Parameter finish: runs within the last transaction.
  mutating func run<Value>(
    _ pull: Pull, _ finish: (Connection, PullResult, GiverState) throws -> Value
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
  var stores: [ByteText] {
    if let stores = options.stores { return Set(stores.map(ByteText.init)).sorted() }
    return Self.syncedStores(of: sides)
  }

  static func syncedStores(of sides: [MergeSide]) -> [ByteText] {
    sides.reduce(Set([ByteText(StoreName.cloud)])) { $0.union($1.stores) }.sorted()
  }
}
