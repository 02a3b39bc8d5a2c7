// SPDX-License-Identifier: Apache-2.0

import KeepsakeStorage

extension Device {
  /// As `Lease.hold`, waiting for other merges of this process a minute, or for the busy timeout if
  /// that is longer; within a transaction not at all.
  package func leased<Value>(
    joins: Bool = false, _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    let limit = core.storage.leaseTimeout
    return try Lease.hold(
      [core.storage], waiting: limit == .zero ? limit : max(limit, .seconds(60)), joins: joins,
      body)
  }
}
