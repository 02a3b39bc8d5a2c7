// SPDX-License-Identifier: Apache-2.0
//
// Devices meet in a star: each is merged into the first, then the first into each, so that after
// one round all hold the same. Two devices are the smallest star, read from the first into the
// second first. Everything is checked before anything is touched.

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
    return try Merge.run([self] + others, options: options, using: &generator)
  }
}

package enum Merge {
  /// Merges all of `devices`, or, one-way, all but the last into the last.
  package static func run(
    _ devices: [Device], options: MergeOptions, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> MergeReport {
    try refuseSameFile(devices)
    var report = MergeReport()
    let stores = try storesToMerge(devices, options)
    if options.isOneWay {
      try oneWay(devices, stores, options, &report, using: &generator)
    } else {
      try everyWay(devices, stores, options, &report, using: &generator)
    }
    return report
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

  private static func storesToMerge(
    _ devices: [Device], _ options: MergeOptions
  ) throws(KeepsakeError) -> [String] {
    if let stores = options.stores { return stores }
    var names: Set<String> = [StoreName.cloud]
    for device in devices { names.formUnion(try device.stores().filter(StoreName.isSynced)) }
    return names.sorted()
  }
}

// MARK: - Every way

extension Merge {
  private static func everyWay(
    _ devices: [Device], _ stores: [String], _ options: MergeOptions, _ report: inout MergeReport,
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    var meetings = devices.indices.dropFirst().map { Meeting(devices, 0, $0, stores: stores) }
    try check(meetings, options)
    for place in devices.indices { try promote(place, of: devices, options, &report) }
    try rotateCopies(meetings, devices, &report, using: &generator)
    // A meeting without anything to tell writes nothing, not even that it took place.
    if try allUpToDate(meetings) {
      report.transfers = directions(devices.count).map {
        MergeReport.Transfer(from: $0.from, into: $0.into)
      }
    } else {
      let now = devices[0].clock.milliseconds
      for index in meetings.indices { try meetings[index].offer(at: now, using: &generator) }
      for (from, into) in directions(devices.count) {
        try pull(&meetings[max(from, into) - 1], from: from, into: into, options, &report)
      }
      for meeting in meetings { try meeting.finish(at: now) }
    }
    report.hasConverged = try nothingIsHeld(devices)
    for meeting in meetings where report.hasConverged {
      report.hasConverged = try !meeting.hasUnread()
    }
  }

  private static func allUpToDate(_ meetings: [Meeting]) throws(KeepsakeError) -> Bool {
    for meeting in meetings where try !meeting.isUpToDate() { return false }
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
      guard isFirst || !isUpToDate else { continue }
      try meeting.devices[meeting.left].checkIntegrity()
      try meeting.devices[meeting.right].checkIntegrity()
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
  static func sharersOfIdentity(_ devices: [Device]) throws(KeepsakeError) -> Set<Int> {
    var seen: Set<ReplicaID> = []
    var places: Set<Int> = []
    for (place, device) in devices.enumerated() {
      let isNew = seen.insert(try device.replica()).inserted
      if !isNew { places.insert(place) }
    }
    return places
  }

  static func pull(
    _ meeting: inout Meeting, from: Int, into: Int, _ options: MergeOptions,
    _ report: inout MergeReport, trusted: Bool = true
  ) throws(KeepsakeError) {
    let result = try meeting.pull(
      into: into, at: meeting.devices[into].clock.milliseconds, options: options,
      changeLimit: options.changeLimit - report.changes.count, trusted: trusted)
    report.transfers.append(
      MergeReport.Transfer(
        from: from, into: into, received: result.received, changed: result.changed,
        held: result.held, conflicts: result.conflicts))
    report.changes += result.changes.map { MergeReport.DeviceChange(into: into, change: $0) }
    report.conflicts += result.losses.map { MergeReport.DeviceConflict(into: into, conflict: $0) }
    if result.hasMoreChanges { report.isTruncated = true }
  }

  /// Lets in what was held and is due; its changes are the first of the report.
  static func promote(
    _ place: Int, of devices: [Device], _ options: MergeOptions, _ report: inout MergeReport
  ) throws(KeepsakeError) {
    let device = devices[place]
    let now = device.clock.milliseconds
    let skew = options.maximumClockSkew
    guard try device.core.access({ try Held.isAnyDue($0, now: now, skew: skew) }) else { return }
    let changes = try device.core.write { connection in
      let changes = try Held.promote(connection, now: now, skew: skew)
      return (changes, changes)
    }
    let room = options.changeLimit - report.changes.count
    report.changes += changes.prefix(room).map { MergeReport.DeviceChange(into: place, change: $0) }
    if changes.count > room { report.isTruncated = true }
  }

  static func nothingIsHeld(_ devices: [Device]) throws(KeepsakeError) -> Bool {
    for device in devices {
      let waiting = try device.core.access { try Held.count($0) }
      if waiting > 0 { return false }
    }
    return true
  }
}
