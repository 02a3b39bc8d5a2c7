// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeValues

/// What a merge did.
public struct MergeReport: Sendable {
  /// One direction of a merge. Devices are named by their place in the list that was merged.
  public struct Transfer: Sendable, Equatable {
    /// The sender.
    public let from: Int
    /// The receiver.
    public let into: Int
    /// Entries that were read from the sender.
    public var received = 0
    /// Entries of the receiver that were written.
    public var changed = 0
    /// Entries from the future, which were not applied.
    public var waiting = 0
    /// Writes that lost to concurrent ones; each is in the receiver's conflict log.
    public var conflicts = 0
  }

  /// A change of a device, in the order it happened.
  public struct DeviceChange: Sendable, Equatable {
    /// The receiver.
    public let into: Int
    /// What changed there.
    public let change: SettingChange
  }

  /// A conflict that this merge logged on a device.
  public struct DeviceConflict: Sendable, Equatable {
    /// The receiver.
    public let into: Int
    /// What it logged.
    public let conflict: Conflict
  }

  /// An entry from the future that a device does not read yet.
  public struct Waiting: Sendable, Equatable {
    /// The receiver.
    public let into: Int
    /// The store of the entry.
    public let store: String
    /// The key of the entry.
    public let key: String
    /// The time from which on a merge applies it.
    public let until: Date

    init(_ entry: Entry, into: Int, _ options: MergeOptions) {
      (self.into, store, key) = (into, entry.address.store.string, entry.address.key.string)
      until = Date(milliseconds: max(0, entry.timestamp.milliseconds - options.clockSkew))
    }
  }

  /// Something that an owner should know.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Event: Sendable, Equatable {
    /// The device has a new replica ID, and is read in full by those that know it.
    case newReplicaID(device: Int, reason: NewIDReason)
    /// The other has read all of the device again, because the device had not read deletions that
    /// the other has forgotten by now, or no longer has the mark up to which it was read. What the
    /// device still had of what was deleted is back on both.
    case readInFull(device: Int, by: Int)
    /// The device's conflict log was full: it no longer has so many of its oldest conflicts.
    case conflictsDropped(device: Int, count: Int)
    /// The entry is too large for the hub, or for any other device, and was not sent. A sync by
    /// hand looks at it again, a session once a day.
    case tooLarge(store: String, key: String)
    /// The hub, or the file, has rows that this version cannot read. They stay there.
    case unreadable(count: Int)
  }

  /// The directions, in the order in which they were read.
  public internal(set) var transfers: [Transfer] = []
  /// What changed, as far as `changeLimit` goes.
  public internal(set) var changes: [DeviceChange] = []
  /// What lost, as far as `changeLimit` goes.
  public internal(set) var conflicts: [DeviceConflict] = []
  /// What waits for its time after this merge, as far as `changeLimit` goes, the first to be due
  /// first.
  public internal(set) var waiting: [Waiting] = []
  /// How many entries were written and are not in `changes`, because it was cut.
  public internal(set) var omittedChanges = 0
  /// Whether `changes` was cut.
  public var isTruncated: Bool { omittedChanges > 0 }
  /// What an owner should know, in the order in which it was found.
  public internal(set) var events: [Event] = []
  /// Whether all devices now hold the same, and nothing waits.
  public internal(set) var hasConverged = false
}

extension MergeReport {
  /// Whether the merge has read or changed anything.
  package var isNews: Bool { !events.isEmpty || hasChanges }

  /// Whether the merge has changed anything, or found a conflict.
  package var hasChanges: Bool {
    !changes.isEmpty || transfers.contains { $0.changed + $0.conflicts > 0 }
  }

  /// Events that come with each merge until something changes.
  package var remarks: [Event] {
    events.filter { event in
      switch event {
      case .tooLarge, .unreadable: true
      default: false
      }
    }
  }

  /// Whether nothing waits for its time, and no row was left out.
  var isComplete: Bool { remarks.isEmpty && transfers.allSatisfy { $0.waiting == 0 } }

  /// Lists a direction, once, in which something may be transferred.
  mutating func expect(from: Int, into: Int) {
    guard !transfers.contains(where: { $0.from == from && $0.into == into }) else { return }
    transfers.append(Transfer(from: from, into: into))
  }
}

/// What a merge had committed when it failed.
struct PartialMerge: Error {
  let report: MergeReport
  /// Why it failed.
  let cause: (any Error)?
}

extension KeepsakeError {
  /// What a merge that threw this had committed before; nil when that was nothing. Merging again
  /// goes on from there, and does not report it again.
  public var mergeReport: MergeReport? { (cause as? PartialMerge)?.report }

  /// The error below this one, also below the report of what a merge had done.
  package var rootCause: (any Error)? {
    if let partial = cause as? PartialMerge { partial.cause } else { cause }
  }

  /// The same with what was done, if anything was.
  func after(_ report: MergeReport) -> KeepsakeError {
    guard report.isNews else { return self }
    return KeepsakeError(
      code, path: path, problem, cure: cure, cause: PartialMerge(report: report, cause: cause))
  }
}
