// SPDX-License-Identifier: Apache-2.0
//
// Devices meet in a star: each is merged into the first, then the first into each, so that after
// one round all hold the same. Two devices are the smallest star, read from the first into the
// second first. Everything is checked before anything is touched.

import Foundation
public import KeepsakeDevice
import KeepsakeValues

extension Device {
  /// Merges this device with others, in every direction; the last writer of each key wins.
  ///
  /// Safe at any time, also while applications have the files open: they hear one change set per
  /// transaction. Merging again changes nothing. The cost follows what has changed since the
  /// devices last met.
  ///
  /// One merge, compaction or repair of a file at a time: others are waited for, those of this
  /// process for as long as they take, those of another for the busy timeout. Observers are
  /// notified when the merge is over, before this returns.
  ///
  /// - Throws: `KeepsakeError`; what was merged until then stays merged, its `mergeReport` has it,
  ///   and running it again goes on from there.
  @discardableResult
  public func merge(
    with others: Device..., options: MergeOptions = MergeOptions()
  ) throws(KeepsakeError) -> MergeReport {
    var generator = SystemRandomNumberGenerator()
    var options = options
    options.firstReadsFirst = true
    return try Merge.run([self] + others, options: options, using: &generator)
  }
}

package enum Merge {
  /// Merges all of `devices`, or, one-way, all but the last into the last.
  ///
  /// A report tells everything that was committed, once, however often a merge begins again.
  package static func run(
    _ devices: [Device], options: MergeOptions, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> MergeReport {
    try refuseSameFile(devices)
    try refuseTransaction(devices)
    let written = options.isOneWay ? devices.suffix(1) : devices[...]
    return try Lease.hold(written.map(\.core.storage)) { () throws(KeepsakeError) in
      var report = MergeReport()
      do throws(KeepsakeError) {
        let dropped = try droppedConflicts(devices)
        defer { reportDropped(devices, since: dropped, &report) }
        try attempts(devices, options, &report, using: &generator)
      } catch {
        throw error.after(report)
      }
      return report
    }
  }

  private static func attempts(
    _ devices: [Device], _ options: MergeOptions, _ report: inout MergeReport,
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    for _ in 0..<patience {
      do throws(KeepsakeError) {
        return try attempt(devices, options, &report, using: &generator)
      } catch {
        guard error.cause is Interruption else { throw error }
        // A version that knows no lease merges one of these files; it needs a moment.
        Thread.sleep(forTimeInterval: .random(in: 0.005...0.05, using: &generator))
      }
    }
    throw interrupted(devices[0].path)
  }

  private static func attempt(
    _ devices: [Device], _ options: MergeOptions, _ report: inout MergeReport,
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    let stores = try stores(devices, only: options.stores)
    if options.isOneWay {
      try oneWay(devices, stores, options, &report, using: &generator)
    } else {
      try everyWay(devices, stores, options, &report, using: &generator)
    }
  }

  /// How often a merge begins again because a process that knows no lease merges one of its files.
  private static let patience = 100

  private struct Interruption: Error {}

  static func interrupted(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .locked, path: path, "another merge of this file is under way",
      cure: "try again when it is done", cause: Interruption())
  }

  /// Within a transaction another file can be attached, and not be let go of again.
  private static func refuseTransaction(_ devices: [Device]) throws(KeepsakeError) {
    for device in devices where device.core.versions.isInOurTransaction {
      throw KeepsakeError(
        .locked, path: device.path, "it cannot be merged within a transaction of its own",
        cure: "merge when the transaction has ended")
    }
  }

  private static func refuseSameFile(_ devices: [Device]) throws(KeepsakeError) {
    var files: Set<FileID> = []
    var cores: Set<ObjectIdentifier> = []
    for device in devices {
      let isNewFile = device.core.file.map { files.insert($0).inserted } ?? true
      guard isNewFile, cores.insert(ObjectIdentifier(device.core)).inserted else {
        throw KeepsakeError(
          .sameFile, path: device.path, "this file is named twice", cure: "name each file once")
      }
    }
  }

  /// What a meeting of these devices is about.
  ///
  /// - Parameter stores: exactly these; nil for all that are synced.
  static func stores(
    _ devices: [Device], only stores: [String]?
  ) throws(KeepsakeError) -> [ByteText] {
    var names = Set((stores ?? [StoreName.cloud]).map(ByteText.init))
    if stores == nil {
      for device in devices {
        // What waits may come in, and go on, at this very meeting.
        let held = try device.core.access { connection in
          try connection.all("SELECT DISTINCT store FROM held") { $0.text(0) }
        }
        let all = try device.stores() + held
        names.formUnion(all.filter(StoreName.isSynced).map(ByteText.init))
      }
    }
    return names.sorted()
  }
}

// MARK: - Every way

extension Merge {
  private static func everyWay(
    _ devices: [Device], _ stores: [ByteText], _ options: MergeOptions,
    _ report: inout MergeReport, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    var meetings = devices.indices.dropFirst().map { Meeting(devices, 0, $0, stores: stores) }
    try check(meetings, options)
    // Whoever cannot be written is found before anybody is.
    for device in devices { try device.core.write { _ in ((), []) } }
    try shareVoids(devices, among: devices.indices, options, &report, using: &generator)
    try rotateCopies(meetings, among: devices.indices, &report, using: &generator)
    for place in devices.indices { try promote(place, of: devices, options, &report) }
    for (from, into) in directions(devices.count) { report.expect(from: from, into: into) }
    // A meeting without anything to tell writes at most that it took place, once a day.
    if try !allUpToDate(meetings) {
      for index in meetings.indices {
        try meetings[index].introduce()
        try meetings[index].lookBack()
      }
      let isReversed = options.firstReadsFirst && devices.count == 2
      let order = directions(devices.count)
      for (from, into) in isReversed ? order.reversed() : order {
        try pull(&meetings, from, into, options, &report, using: &generator)
      }
      // Whoever was written last was not read since; it has at least to be told what was an echo.
      // Observers that answer each other could go on for ever; the next meeting brings the rest.
      var patience = 8 * meetings.count
      while patience > 0,
        let next = meetings.indices.lazy.compactMap({ index in
          meetings[index].waiting.min().map { (index + 1, $0) }
        }).first
      {
        patience -= 1
        let (outer, into) = next
        try pull(
          &meetings, into == 0 ? outer : 0, into, options, &report, using: &generator)
      }
    }
    for meeting in meetings {
      try meeting.acknowledge()
      try meeting.note()
    }
    report.waiting = try waiting(devices, options)
    report.hasConverged = try haveConverged(meetings, devices, stores)
  }

  private static func haveConverged(
    _ meetings: [Meeting], _ devices: [Device], _ stores: [ByteText]
  ) throws(KeepsakeError) -> Bool {
    guard try nothingIsHeld(devices) else { return false }
    for meeting in meetings {
      let hasUnread = try meeting.hasUnread()
      if hasUnread { return false }
    }
    // A store that does not travel keeps no tombstones, so a deletion leaves nothing to read.
    let local = stores.filter { !StoreName.isSynced($0.string) }
    for device in devices.dropFirst() where !local.isEmpty {
      let differs = try Difference.exists(device, devices[0], stores: local)
      if differs { return false }
    }
    return true
  }

  private static func allUpToDate(_ meetings: [Meeting]) throws(KeepsakeError) -> Bool {
    for meeting in meetings {
      // The first meeting is one even of devices that hold nothing.
      let (isFirst, isUpToDate) = (try meeting.isFirst(), try meeting.isUpToDate())
      if isFirst || !isUpToDate { return false }
    }
    return true
  }

  /// For two: there and back. For more: into the first, then out of it.
  static func directions(_ count: Int) -> [(from: Int, into: Int)] {
    count == 2
      ? [(0, 1), (1, 0)] : (1..<count).map { ($0, 0) } + (1..<count).map { (0, $0) }
  }

  static func check(_ meetings: [Meeting], _ options: MergeOptions) throws(KeepsakeError) {
    for meeting in meetings {
      let isFirst = try meeting.isFirst()
      guard isFirst || options.checksIntegrity else { continue }
      let isUpToDate = try meeting.isUpToDate()
      guard isFirst || options.isOneWay || !isUpToDate else { continue }
      for place in [meeting.left, meeting.right] {
        try meeting.devices[place].checkIntegrity()
        try meeting.devices[place].checkSizes()
      }
      // Whether each can be read beside the other, too.
      let (left, right) = (meeting.devices[meeting.left].core, meeting.devices[meeting.right].core)
      try right.withSender(left) {}
      if !options.isOneWay { try left.withSender(right) {} }
    }
  }

  /// Lets in what was held and is due; its changes are the first of the report.
  static func promote(
    _ place: Int, of devices: [Device], _ options: MergeOptions, _ report: inout MergeReport
  ) throws(KeepsakeError) {
    let device = devices[place]
    let now = device.clock.milliseconds
    let skew = options.maximumClockSkew
    guard try device.core.access({ try Held.isAnyDue($0, now: now, skew: skew) }) else { return }
    let lossLimit = max(0, options.changeLimit - report.conflicts.count)
    let (changes, losses) = try device.core.write { connection in
      let known = try connection.conflictLog.last()
      let changes = try Held.promote(connection, now: now, skew: skew)
      let losses = try connection.conflictLog.conflicts(after: known, limit: lossLimit)
      return ((changes, losses), changes)
    }
    report.conflicts += losses.map { MergeReport.DeviceConflict(into: place, conflict: $0) }
    let room = options.changeLimit - report.changes.count
    report.changes += changes.prefix(room).map { MergeReport.DeviceChange(into: place, change: $0) }
    if changes.count > room { report.isTruncated = true }
  }
}
