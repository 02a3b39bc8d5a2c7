// SPDX-License-Identifier: Apache-2.0

/// The sender of a request about rows.
package struct HubSender: Sendable {
  package var account: Int64
  package var tokenHash: [UInt8]
  package var replica: String

  package init(account: Int64, tokenHash: [UInt8], replica: String) {
    (self.account, self.tokenHash, self.replica) = (account, tokenHash, replica)
  }
}

/// A request for a page of rows.
package struct HubRead: Sendable {
  /// The mark up to which the device has read the hub.
  package var cursor: HubMark
  /// The newest mark in the answer with the page before.
  package var lastNewest: HubMark?
  /// The number of the last row of that page.
  package var after: Int64?
  package var rows: Int
  package var bytes: Int
  /// Whether the device wants the vectors of pushes up to its cursor, too.
  package var allVectors = false
  /// The device needs no answer if this is the newest mark.
  package var unless: HubMark?

  package init(cursor: HubMark, rows: Int, bytes: Int) {
    (self.cursor, self.rows, self.bytes) = (cursor, rows, bytes)
  }
}

/// A page of rows, and the state of the hub when it was read.
package struct HubAnswer: Sendable {
  package var newest: HubMark
  package var clock: Int64
  /// False if the newest mark is the one in the request; the other members are not set then.
  package var isNew = true
  /// False if the device has to read from the beginning: the history lacks a mark of the request,
  /// or rows that the device has not read were forgotten.
  package var knowsCursor = true
  /// The mark that the device had at its last push.
  package var deviceMark: [UInt8]?
  /// The vectors of pushes that no later push had read: since the cursor, or of all.
  package var vectors: [[UInt8]] = []
  package var rows: [HubRow] = []
  package var isLast = true

  package init(newest: HubMark, clock: Int64) { (self.newest, self.clock) = (newest, clock) }
}

/// Rows that a device pushes.
package struct HubPush: Sendable {
  /// The mark up to which the device has read the hub.
  package var base: HubMark
  /// The newest mark that the device has received.
  package var newest: HubMark
  package var rows: [HubRow]
  /// The device's mark and vectors, which the last page of a sync has.
  package var mark: [UInt8]?
  package var vectors: [UInt8]?

  package init(
    base: HubMark, newest: HubMark? = nil, rows: [HubRow], mark: [UInt8]?, vectors: [UInt8]?
  ) {
    (self.base, self.newest, self.rows) = (base, newest ?? base, rows)
    (self.mark, self.vectors) = (mark, vectors)
  }
}

/// The result of a push that was accepted.
package struct HubPushed: Sendable, Equatable {
  package let newest: HubMark
  /// Whether no other device has pushed since its base.
  package let isNext: Bool

  package init(newest: HubMark, isNext: Bool) { (self.newest, self.isNext) = (newest, isNext) }
}

/// A push, for a store that can decide it in one statement.
package struct HubFastPush: Sendable {
  package let sender: HubSender
  package let push: HubPush
  /// The random bits of the new mark.
  package let bits: Int64
  package let limits: HubLimits
  /// The system's clock.
  package let now: Int64
}
