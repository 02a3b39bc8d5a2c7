// SPDX-License-Identifier: Apache-2.0
//
// What this process does with a device's file, for handlers that count it, as metrics do. Without a
// handler it costs one atomic load for each write and each merge.

/// One thing that this process has done with a device's file, or could not do.
package enum Activity: Sendable {
  /// So many writes are committed; not those of merges.
  case wrote(Int)
  /// A write has failed, or a transaction for a reason other than an error of its body.
  case failed(KeepsakeError.Code)
  /// The duration of a set outside of a transaction, successful or not.
  case set(Duration)
  /// A merge that the device took part in.
  case merged(MergeTally)
}

/// How a merge ended for one device.
package struct MergeTally: Sendable {
  /// From its beginning to its end, with what it had to wait for.
  package let duration: Duration
  /// Writes that lost, and are in this device's conflict log.
  package let conflicts: Int
  /// Entries from the future, which wait on this device.
  package let waiting: Int
  /// Why it failed, half-way or at once.
  package let failure: KeepsakeError.Code?

  package init(
    duration: Duration, conflicts: Int, waiting: Int, failure: KeepsakeError.Code?
  ) {
    (self.duration, self.conflicts, self.waiting) = (duration, conflicts, waiting)
    self.failure = failure
  }
}
