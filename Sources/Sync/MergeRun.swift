// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// One merge that is under way, with leases on the files that it writes.
struct MergeRun {
  let devices: [Device]
  let options: MergeOptions
  let source: IdentitySource
  let hooks: MergeHooks
  /// What it has committed so far.
  var report = MergeReport()
  /// Whether rows were left out that no device writes.
  var hasSkipped = false
  /// Places of files of which every page was read just now.
  var checked: Set<Int> = []
  /// The devices as they were before the merge, or after it has given them another replica ID.
  var sides: [MergeSide] = []
  /// Conflicts that each device's log had dropped before.
  private let dropped: [Int64]
  /// Each device's sequence number before.
  private let numbers: [Int64]

  init(
    _ devices: [Device], _ options: MergeOptions, _ source: IdentitySource, _ hooks: MergeHooks
  ) throws(KeepsakeError) {
    (self.devices, self.options, self.source, self.hooks) = (devices, options, source, hooks)
    for device in devices { sides.append(try MergeSide(device)) }
    dropped = sides.map(\.droppedConflicts)
    numbers = sides.map(\.sequenceNumber)
  }

  mutating func run() throws(KeepsakeError) {
    defer { reportDropped() }
    try check()
    try options.isOneWay ? mergeOneWay() : mergeBothWays()
  }

  // MARK: - Pulls

  /// Reads one device into another.
  ///
  /// - Parameter finish: runs within the last transaction.
  mutating func pull<Value>(
    _ from: Int, into: Int, _ stores: [ByteText], inFull: Set<ByteText> = [],
    except skipped: NumberRanges = NumberRanges(), marksGiver: Bool = true,
    doubt: Incoming.Doubt? = nil,
    _ finish: (Connection, PullResult, GiverState) throws -> Value
  ) throws(KeepsakeError) -> (PullResult, Value) {
    report.expect(from: from, into: into)
    let request = PullRequest(
      giver: devices[from], receiver: devices[into], direction: (from, into), stores: stores,
      inFull: inFull, skipped: skipped, marksGiver: marksGiver, doubt: doubt,
      checksRows: !checked.contains(from), peers: sides[into].peers, receiverID: sides[into].id,
      options: options, source: source, hooks: hooks,
      horizon: .horizon(now: devices[into].clock.milliseconds, skew: options.clockSkew))
    let limit = max(options.changeLimit, 0)
    var result = PullResult(
      changes: limit - report.changes.count, losses: limit - report.conflicts.count,
      keepsAll: limit == .max)
    defer { note(&result, from, into) }
    let value = try Pull(request: request).run(&result, finish: finish)
    return (result, value)
  }

  private mutating func note(_ result: inout PullResult, _ from: Int, _ into: Int) {
    if result.isReadAgain { report.events.append(.readInFull(device: from, by: into)) }
    if result.skipped > 0 { report.events.append(.unreadable(count: result.skipped)) }
    hasSkipped = hasSkipped || result.skipped > 0
    result.cutWaiting(options)
    report.add(result, from: from, into: into)
    report.waiting += result.waiting.prefix(
      max(max(options.changeLimit, 0) - report.waiting.count, 0))
  }

  // MARK: - Stores

  /// The stores that this merge is about.
  var stores: [ByteText] {
    if let stores = options.stores { return Set(stores.map(ByteText.init)).sorted() }
    return Self.syncedStores(of: sides)
  }

  static func syncedStores(of sides: [MergeSide]) -> [ByteText] {
    sides.reduce(Set([ByteText(StoreName.cloud)])) { $0.union($1.stores) }.sorted()
  }

  // MARK: - Conflicts that were dropped

  /// Adds how many conflicts the devices no longer have.
  private mutating func reportDropped() {
    for (place, device) in devices.enumerated() {
      // A file that cannot be read any more has failed the merge already.
      let count = Result { () throws(KeepsakeError) in try device.droppedConflicts() }
      guard case .success(let after) = count, after > dropped[place] else { continue }
      report.events.append(
        .conflictsDropped(device: place, count: Int(after - dropped[place])))
    }
  }

  /// Drops what files have too much of. Counting reads all entries, so it is done once for each
  /// 65,536 changes of a file.
  func dropExcessTombstones() throws(KeepsakeError) {
    for (device, before) in zip(devices, numbers) where !device.isReadOnly {
      let number = try device.core.read { try ReplicaState($0).sequenceNumber }
      guard number >= Device.Compaction.capacity, number >> 16 != before >> 16 else { continue }
      try device.dropExcessTombstones()
    }
  }
}
