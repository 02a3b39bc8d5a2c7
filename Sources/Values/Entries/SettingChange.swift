// SPDX-License-Identifier: Apache-2.0

/// The change of one key's value.
public struct SettingChange: Sendable, Hashable {
  /// The store's name on the device.
  public let store: String
  /// The key whose value changed.
  public let key: String
  package private(set) var before: TaggedCell
  package let after: TaggedCell
  /// The value of which the observer was last notified; nil for none, whatever the default is. Each
  /// access decodes an array or a dictionary again.
  public var old: StoredValue? { before.value }
  /// The new value; nil if the key was deleted, whatever the default is. Each access decodes an
  /// array or a dictionary again.
  public var new: StoredValue? { after.value }
  /// The device that wrote the new value.
  public let writer: ReplicaID
  /// When the new value was written, by the clock of the device that wrote it.
  public let timestamp: HybridTimestamp
  /// How the value came to this device.
  public let reason: Reason
  /// The process that committed the change to this device's file.
  package let process: Process
  /// The file's local sequence number after the commit. Changes that were committed together, or
  /// that another process noticed together, have equal numbers; later ones have larger numbers.
  package var transaction: Int64

  /// How the value came to this device.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Reason: Sendable, Hashable {
    /// Written on this device.
    case local
    /// Received from another device in a sync, directly or through a third.
    case merge
    /// Received in this device's first sync.
    case firstMerge
    /// A reload of a layer changed the value in force: `old` and `new` are the values in force
    /// before and after it. Nothing was written.
    case reload
  }

  /// Whether the notified process itself made the commit.
  package enum Process: Sendable, Hashable { case this, other }

  /// The source of a change.
  public enum Origin: Sendable, Hashable {
    /// Written by this process.
    case thisProcess
    /// Written on this device by another process.
    case otherProcess
    /// Written on another device.
    case device(ReplicaID)
  }

  /// The device or the process that wrote the change.
  public var origin: Origin {
    switch reason {
    case .local: process == .this ? .thisProcess : .otherProcess
    case .reload: .thisProcess
    case .merge, .firstMerge: .device(writer)
    }
  }

  package init(
    store: String, key: String, from before: TaggedCell, to after: TaggedCell, writer: ReplicaID,
    timestamp: HybridTimestamp, reason: Reason, process: Process = .this, transaction: Int64 = 0
  ) {
    self.store = store
    self.key = key
    self.before = before
    self.after = after
    self.writer = writer
    self.timestamp = timestamp
    self.reason = reason
    self.process = process
    self.transaction = transaction
  }

  /// Combines this change with an earlier one of the same key.
  package func after(_ first: SettingChange) -> SettingChange {
    var change = self
    change.before = first.before
    return change
  }
}
