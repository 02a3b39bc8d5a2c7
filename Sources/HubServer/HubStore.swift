// SPDX-License-Identifier: Apache-2.0
//
// A rule of the hub is a function: its argument is what a transaction has read, its result what the
// transaction changes. So a store only reads and changes, each in one round trip.

/// A database with the accounts of a hub.
package protocol HubStore: Sendable {
  /// Runs work in a transaction. Transactions that change the same account never overlap, even in
  /// different processes of the hub.
  ///
  /// - Parameter done: called on a thread of the store, once the transaction is committed and safe
  ///   from a power failure; must not block. It receives what the rule returned or threw, or a
  ///   `HubStoreError`.
  func run<Result: Sendable>(
    _ work: HubWork<Result>,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void)

  /// Sets the observer of new marks, which any process of the hub may have made. Calls may be late,
  /// repeated, or without a change, and one may stand for many changes. A call for a change of
  /// another process may be lost.
  func observe(
    _ onChange: @escaping @Sendable (_ account: Int64, _ newest: HubMark) -> Void)

  /// Ends the threads and connections, after the waiting work.
  func close()
}

extension HubStore {
  package func run<Result: Sendable>(_ work: HubWork<Result>) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      run(work) { continuation.resume(with: $0) }
    }
  }
}

/// A query, and the rule that decides by its result.
package struct HubWork<Result: Sendable>: Sendable {
  package var query: HubQuery
  /// Must not block. Runs again if its transaction was rolled back.
  package var rule: @Sendable (HubState) throws -> (Result, HubChange?)
  /// A push that a store may accept without the rule, if the result is the same.
  package var fastPush: HubFastPush?
  var fastResult: (@Sendable (HubPushed) -> Result)?

  package init(
    _ query: HubQuery, _ rule: @escaping @Sendable (HubState) throws -> (Result, HubChange?)
  ) {
    (self.query, self.rule) = (query, rule)
  }
}

/// An error of a store.
package enum HubStoreError: Error, Equatable {
  /// A failure that passes: the disk is full, or the server does not answer.
  case unavailable(String)
  /// A failure that lasts until an operator repairs it.
  case broken(String)
}

/// The data that a transaction reads in addition to the account.
package struct HubQuery: Sendable {
  package var account: Int64
  /// Whether the rule may return a change.
  package var isWriting: Bool
  /// The hash of a device's token.
  package var token: [UInt8]?
  package var replica: String?
  /// Marks that are looked up in the account's history.
  package var marks: [HubMark] = []
  package var page: HubPage?
  /// Keys whose outlines are read.
  package var keys: [[UInt8]] = []
  /// Whether all devices and the invitation are read.
  package var readsDevices = false

  package init(_ account: Int64, isWriting: Bool) {
    (self.account, self.isWriting) = (account, isWriting)
  }
}

/// Rows above a number, in the order of their numbers, and vectors.
package struct HubPage: Sendable {
  package var after: Int64
  /// The vectors of pushes up to this number are left out.
  package var cursor: Int64 = 0
  /// The page ends before a row that would exceed one of these, but has at least one row.
  package var rows: Int
  package var bytes: Int
  /// Neither rows nor vectors are read if this is the newest mark.
  package var unless: HubMark?

  package init(after: Int64, rows: Int, bytes: Int, unless: HubMark? = nil) {
    (self.after, self.rows, self.bytes, self.unless) = (after, rows, bytes, unless)
  }
}

/// The data that a transaction has read.
package struct HubState: Sendable {
  /// Nil if there is no such account; then nothing else is set.
  package var account: HubAccount?
  package var device: HubDevice?
  package var replica: HubReplica?
  /// Whether the history has each of the query's marks.
  package var hasMarks: [Bool] = []
  package var rows: [HubRow] = []
  package var hasMore = false
  /// In the order of their numbers.
  package var vectors: [HubVectors] = []
  package var outlines: [HubRowOutline] = []
  package var devices: [HubDevice] = []
  package var invitation: HubInvitation?

  package init() {}
}

/// The changes of a transaction.
package struct HubChange: Sendable {
  /// Limits the marks and replica IDs that are kept, and the marks since the day began.
  package typealias Trim = (limits: HubLimits, day: Int64)

  /// New vectors. They replace those up to the number `read`, and the oldest beyond
  /// `HubVectors.most` and `bytes`: a conflict that is none may be logged for these.
  package struct NewVectors: Sendable {
    package let new: HubVectors
    package let read: Int64
    /// The maximum of all that are kept, without the new ones.
    package let bytes: Int64

    package init(_ new: HubVectors, read: Int64, bytes: Int64) {
      (self.new, self.read, self.bytes) = (new, read, bytes)
    }
  }

  /// Replaces the account, or adds it.
  package var account: HubAccount?
  package var addsAccount = false
  package var deletesAccount = false
  /// Rows that replace those with the same keys.
  package var rows: [HubRow] = []
  package var forgottenKeys: [[UInt8]] = []
  /// The new mark, which becomes the newest.
  package var mark: HubMark?
  package var vectors: NewVectors?
  package var replica: HubReplica?
  /// Replaces the device with the same number, or adds one.
  package var device: HubDevice?
  /// The number of a device that is forgotten.
  package var forgottenDevice: Int64?
  /// Replaces the invitation before.
  package var invitation: HubInvitation?
  package var dropsInvitation = false
  package var trim: Trim?

  package init() {}
}

extension HubLimits {
  /// A push drops old marks and replica IDs if its random bits say so; nil if they do not.
  package func trim(_ bits: Int64, at now: Int64) -> HubChange.Trim? {
    bits % pushesToTrim == 0 ? (self, now - 86_400_000) : nil
  }
}
