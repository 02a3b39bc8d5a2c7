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
  /// - Throws: `KeepsakeError`; what was merged until then stays merged, and running it again goes
  ///   on from there.
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
  /// One merge at a time in a process: a connection has one place for another device's file.
  package static func run(
    _ devices: [Device], options: MergeOptions, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> MergeReport {
    try refuseSameFile(devices)
    try refuseTransaction(devices)
    try turn.begin(devices[0].path)
    defer { turn.end() }
    var events: [MergeReport.Event] = []
    for _ in 0..<patience {
      var report = MergeReport()
      report.events = events
      do throws(KeepsakeError) {
        try attempt(devices, options, &report, using: &generator)
        return report
      } catch {
        guard error.cause is Interruption else { throw error }
        events = report.events
        // Another process merges one of these files; it needs a moment.
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

  /// Returns when no merge is under way in this process; at once within one.
  package static func waitUntilOver() { turn.wait() }

  private static let turn = MergeTurn()
  /// How often a merge begins again because another process merges one of its files.
  private static let patience = 100

  private struct Interruption: Error {}

  static func interrupted(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .locked, path: path, "another merge of this file is under way",
      cure: "try again when it is done", cause: Interruption())
  }

  /// Within a transaction another file can be attached, and not be let go of again.
  private static func refuseTransaction(_ devices: [Device]) throws(KeepsakeError) {
    for device in devices where device.core.moments.isInOurTransaction {
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
    try rotateCopies(meetings, devices, &report, using: &generator)
    for place in devices.indices { try promote(place, of: devices, options, &report) }
    for (from, into) in directions(devices.count) {
      report.transfers.append(MergeReport.Transfer(from: from, into: into))
    }
    let dropped = try droppedConflicts(devices)
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
    for (place, counts) in try zip(dropped, droppedConflicts(devices)).enumerated()
    where counts.0 < counts.1 {
      report.events.append(
        .conflictsDropped(device: place, count: Int(counts.1 - counts.0)))
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
    }
  }

  /// Looks again after each new identity: two copies of a third file are found one by one.
  private static func rotateCopies(
    _ meetings: [Meeting], _ devices: [Device], _ report: inout MergeReport,
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    var doubtful: Set<Int> = []
    repeat {
      doubtful = try sharersOfIdentity(devices)
      for meeting in meetings { doubtful.formUnion(try meeting.examine()) }
      for place in doubtful.sorted() {
        try devices[place].rotate(to: .random(using: &generator))
        report.events.append(.cloneDetected(device: place))
      }
    } while !doubtful.isEmpty
  }

  /// All but the first of the devices that have one identity.
  private static func sharersOfIdentity(_ devices: [Device]) throws(KeepsakeError) -> Set<Int> {
    var seen: Set<ReplicaID> = []
    var places: Set<Int> = []
    for (place, device) in devices.enumerated() {
      let isNew = seen.insert(try device.replica()).inserted
      if !isNew { places.insert(place) }
    }
    return places
  }

  private static func pull(
    _ meetings: inout [Meeting], _ from: Int, _ into: Int, _ options: MergeOptions,
    _ report: inout MergeReport, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    let index = max(from, into) - 1
    let result = try meetings[index].pull(
      into: into, at: meetings[index].devices[into].clock.milliseconds, options: options,
      changeLimit: options.changeLimit - report.changes.count, using: &generator)
    report.add(result, from: from, into: into)
    guard into == 0, result.changed > 0 else { return }
    for other in meetings.indices where other != index {
      meetings[other].expectNews(at: other + 1)
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
      let known = try connection.lastConflict()
      let changes = try Held.promote(connection, now: now, skew: skew)
      return ((changes, try connection.conflicts(after: known, limit: lossLimit)), changes)
    }
    report.conflicts += losses.map { MergeReport.DeviceConflict(into: place, conflict: $0) }
    let room = options.changeLimit - report.changes.count
    report.changes += changes.prefix(room).map { MergeReport.DeviceChange(into: place, change: $0) }
    if changes.count > room { report.isTruncated = true }
  }
}
