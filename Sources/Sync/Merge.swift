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
  /// Safe at any time, also while applications have the files open: they get one change set per
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
    var options = options
    options.firstReadsFirst = true
    return try Merge.run([self] + others, options: options)
  }
}

package enum Merge {
  /// Merges all of `devices`, or, one-way, all but the last into the last.
  ///
  /// A report lists everything that was committed, once, however often a merge begins again.
  package static func run(
    _ devices: [Device], options: MergeOptions, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> MergeReport {
    try refuseSameFile(devices)
    return try run(devices, nil, options, using: &generator)
  }

  private static func run(
    _ devices: [Device], _ hub: HubParty?, _ options: MergeOptions,
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> MergeReport {
    try telling(devices) { () throws(KeepsakeError) in
      try begin(devices, hub, options, using: &generator)
    }
  }

  private static func begin(
    _ devices: [Device], _ hub: HubParty?, _ options: MergeOptions,
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> MergeReport {
    try refuseTransaction(devices)
    let leased = options.isOneWay ? devices.suffix(1) : devices[...]
    func runThrough() throws(KeepsakeError) -> MergeReport {
      var run = try MergeRun(devices, hub, options, generator)
      defer { generator = run.generator }
      do throws(KeepsakeError) {
        try run.toItsEnd()
      } catch {
        throw error.after(run.report)
      }
      return run.report
    }
    do throws(KeepsakeError) {
      // With a hub each reading takes one.
      guard hub == nil else { return try runThrough() }
      return try Lease.hold(leased.map(\.core.storage), runThrough)
    } catch {
      // The next merge reads every page, whatever was read until this one found it.
      if error.code == .corrupt {
        for device in devices { CheckRecord.forget(device.path) }
      }
      throw error
    }
  }

  /// Merges a device with a hub, both ways.
  ///
  /// - Parameters:
  ///   - channel: the way to the hub, which is number 1 in the report.
  ///   - page: how much a request and an answer carry.
  package static func run(
    _ device: Device, with channel: any HubChannel, options: MergeOptions,
    page: HubRequest.PageLimit = HubRequest.PageLimit(),
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> MergeReport {
    var options = options
    // Who merges finds the conflicts; a hub only keeps.
    options.firstReadsFirst = true
    if let store = options.stores?.first(where: { !StoreName.isSynced($0) }) {
      throw KeepsakeError(
        .invalidValue, path: device.path, "the store \(store) does not sync with a hub",
        cure: "name stores that sync: cloud, or cloud:NAME")
    }
    guard !options.isOneWay else {
      throw KeepsakeError(
        .invalidValue, path: channel.name, "a hub is merged both ways, or not at all",
        cure: "merge without the one-way option")
    }
    return try run(
      [device], HubParty(channel, for: device, limit: page), options, using: &generator)
  }

  /// The same by the system's random numbers.
  package static func run(
    _ devices: [Device], options: MergeOptions
  ) throws(KeepsakeError) -> MergeReport {
    // In a box: an empty type has no address of its own, and ThreadSanitizer asks for one.
    var generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
    return try run(devices, options: options, using: &generator)
  }

  package static func run(
    _ device: Device, with channel: any HubChannel, options: MergeOptions
  ) throws(KeepsakeError) -> MergeReport {
    // The compiler of Swift 6.3 crashes where the box of the other is opened here.
    struct SystemNumbers: RandomNumberGenerator {
      private var calls: UInt64 = 0

      mutating func next() -> UInt64 {
        calls &+= 1
        return .random(in: .min ... .max)
      }
    }
    var generator = SystemNumbers()
    return try run(device, with: channel, options: options, using: &generator)
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
}
