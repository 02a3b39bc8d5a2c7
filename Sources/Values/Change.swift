// SPDX-License-Identifier: Apache-2.0

/// One key that got another value, and from whom.
public struct Change: Sendable, Hashable {
  public let store: String
  public let key: String
  /// The columns of the value before, see `old`.
  package let before: TaggedCell
  /// The columns of the value now.
  package let after: TaggedCell
  /// The value before, as far as whoever hears of the change had been told; nil for none. An array
  /// or a dictionary is decoded at each access.
  public var old: StoredValue? { before.value }
  /// The value now; nil when the key was deleted. An array or a dictionary is decoded at each
  /// access.
  public var new: StoredValue? { after.value }
  /// The device that wrote the new value.
  public let writer: ReplicaID
  public let stamp: HybridTimestamp
  public let reason: Reason
  /// Which process committed it to this device's file.
  public let process: Process
  /// The file's arrival number after the commit: equal for changes that were committed, or by
  /// another process noticed, together; larger for later ones.
  public package(set) var transaction: Int64

  /// How the value came to this device.
  public enum Reason: Sendable, Hashable {
    /// Written on this device.
    case local
    /// Learned from another device in a meeting, directly or through a third.
    case merge
    /// The same, when this device had never met any other before.
    case firstMerge
    /// The store was switched to another account's device.
    case account
  }

  public enum Process: Sendable, Hashable { case this, other }

  /// Where a change came from.
  public enum Origin: Sendable, Hashable {
    /// Written by this process.
    case thisProcess
    /// Written on this device by another process.
    case otherProcess
    /// Written on another device.
    case device(ReplicaID)
  }

  public var origin: Origin {
    switch reason {
    case .local: process == .this ? .thisProcess : .otherProcess
    case .merge, .firstMerge, .account: .device(writer)
    }
  }

  package init(
    store: String, key: String, from before: TaggedCell, to after: TaggedCell, writer: ReplicaID,
    stamp: HybridTimestamp, reason: Reason, process: Process = .this, transaction: Int64 = 0
  ) {
    self.store = store
    self.key = key
    self.before = before
    self.after = after
    self.writer = writer
    self.stamp = stamp
    self.reason = reason
    self.process = process
    self.transaction = transaction
  }

  /// This change after an earlier one of the same key, as one.
  package func after(_ first: Change) -> Change {
    Change(
      store: store, key: key, from: first.before, to: after, writer: writer,
      stamp: stamp, reason: reason, process: process, transaction: transaction)
  }
}
