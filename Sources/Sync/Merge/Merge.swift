// SPDX-License-Identifier: Apache-2.0
//
// The entry points of merges: what is refused, and the report of a merge that fails.

public import KeepsakeDevice
import KeepsakeValues

extension Device {
  /// Merges this device with others, in every direction; the last writer of each key wins.
  ///
  /// Safe at any time, also while applications have the files open: they get one change set per
  /// transaction. Merging again changes nothing. The cost follows what has changed since the
  /// devices last synced.
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
    try Merge.run([self] + others, options: options)
  }
}

package enum Merge {
  /// Merges all of `devices`, or, one-way, all but the last into the last.
  package static func run(
    _ devices: [Device], options: MergeOptions, source: IdentitySource = .system,
    hooks: MergeHooks = MergeHooks()
  ) throws(KeepsakeError) -> MergeReport {
    try refuseSameFile(devices)
    try refuseTransaction(devices)
    return try reporting(devices) { () throws(KeepsakeError) in
      var run = try MergeRun(devices, options, source, hooks)
      do throws(KeepsakeError) {
        try run.run()
      } catch {
        throw error.after(run.report)
      }
      return run.report
    }
  }

  /// Throws within a transaction, in which SQLite cannot detach a file.
  static func refuseTransaction(_ devices: [Device]) throws(KeepsakeError) {
    for device in devices where device.versions.isInOurTransaction {
      throw KeepsakeError(
        .locked, path: device.path, "it cannot be merged within a transaction of its own",
        cure: "merge when the transaction has ended")
    }
  }

  private static func refuseSameFile(_ devices: [Device]) throws(KeepsakeError) {
    var files: Set<ObjectIdentifier> = []
    for device in devices {
      // Handles on one file share this, also of a file that is opened in two ways.
      guard files.insert(ObjectIdentifier(device.shared)).inserted else {
        throw KeepsakeError(
          .sameFile, path: device.path, "this file is named twice", cure: "name each file once")
      }
    }
  }

  /// Reports how a merge ended to the observers of the devices' activities.
  static func reporting(
    _ devices: [Device], _ merge: () throws(KeepsakeError) -> MergeReport
  ) throws(KeepsakeError) -> MergeReport {
    guard devices.contains(where: { !$0.activities.isEmpty }) else { return try merge() }
    let start = ContinuousClock.now
    func announce(_ report: MergeReport?, failure: KeepsakeError.Code? = nil) {
      let duration = start.duration(to: .now)
      for (place, device) in devices.enumerated() {
        let into = (report?.transfers ?? []).filter { $0.into == place }
        let tally = MergeTally(
          duration: duration, conflicts: into.reduce(0) { $0 + $1.conflicts },
          waiting: into.reduce(0) { $0 + $1.waiting }, failure: failure)
        device.activities.notify(.merged(tally))
      }
    }
    do throws(KeepsakeError) {
      let report = try merge()
      announce(report)
      return report
    } catch {
      announce(error.mergeReport, failure: error.code)
      throw error
    }
  }
}
