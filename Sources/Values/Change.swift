// SPDX-License-Identifier: Apache-2.0

/// One key that got another value, and from whom.
public struct Change: Sendable, Hashable {
  public let store: String
  public let key: String
  /// The value before; nil when there was none.
  public let old: StoredValue?
  /// The value now; nil when the key was deleted.
  public let new: StoredValue?
  /// The device that wrote the new value.
  public let origin: ReplicaID
  public let stamp: HybridTimestamp
  public let reason: Reason

  /// How the value came to this device.
  public enum Reason: Sendable, Hashable {
    /// Written on this device.
    case local
    /// Learned from another device in a meeting, directly or through a third.
    case merge
  }

  package init(
    store: String, key: String, old: StoredValue?, new: StoredValue?, origin: ReplicaID,
    stamp: HybridTimestamp, reason: Reason
  ) {
    self.store = store
    self.key = key
    self.old = old
    self.new = new
    self.origin = origin
    self.stamp = stamp
    self.reason = reason
  }
}
