// SPDX-License-Identifier: Apache-2.0
//
// A rule of the hub is a function of what a transaction has read, and returns what it changes. So
// a store has two things to do, read and change, and each can be one round trip.

/// Where a hub keeps its accounts.
package protocol HubStore: Sendable {
  /// Runs work in a transaction. Those of one account that change it never overlap, whichever
  /// process of the hub they run in.
  ///
  /// - Parameter done: called on a thread of the store, once the transaction is committed and
  ///   safe from a power cut; must not wait. It gets what the rule returned or threw, or a
  ///   `HubStoreError`.
  func run<Result: Sendable>(
    _ work: HubWork<Result>,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void)

  /// Sets what is called when an account has a new mark, whichever process of the hub made it.
  /// Calls may come late, twice or for no change, and one for many changes; one that another
  /// process owes may be lost.
  func observe(
    _ onChange: @escaping @Sendable (_ account: Int64, _ newest: HubMark) -> Void)

  /// Ends its threads and connections, after the work that waits.
  func close()
}

extension HubStore {
  package func run<Result: Sendable>(_ work: HubWork<Result>) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      run(work) { continuation.resume(with: $0) }
    }
  }
}

/// What is read, and the rule that decides by it.
package struct HubWork<Result: Sendable>: Sendable {
  package var query: HubQuery
  /// Must not wait. May run again if its transaction was rolled back.
  package var rule: @Sendable (HubState) throws -> (Result, HubChange?)
  /// A store may take this push without the rule, if it gives the same result.
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
  /// It does not answer now, and may later: the disk is full, the server is gone.
  case unavailable(String)
  /// It fails until an operator repairs it.
  case broken(String)
}

/// What a transaction reads of an account, beside the account itself.
package struct HubQuery: Sendable {
  package var account: Int64
  /// Whether the rule may return a change.
  package var isWriting: Bool
  /// The hash of a device's token.
  package var token: [UInt8]?
  package var replica: String?
  /// Marks, of which the state says whether the account's history has them.
  package var marks: [HubMark] = []
  package var page: HubPage?
  /// Keys of which the state has outlines.
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
  /// It ends before a row that would exceed one of these, but has one row at least.
  package var rows: Int
  package var bytes: Int
  /// Neither rows nor vectors are read if this is the newest mark.
  package var unless: HubMark?

  package init(after: Int64, rows: Int, bytes: Int, unless: HubMark? = nil) {
    (self.after, self.rows, self.bytes, self.unless) = (after, rows, bytes, unless)
  }
}

/// What a transaction has read.
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

/// What a transaction changes.
package struct HubChange: Sendable {
  /// Only so many marks and replica IDs are kept, and more marks from when the day began.
  package typealias Trim = (limits: HubLimits, day: Int64)

  /// Replaces the account, or adds it.
  package var account: HubAccount?
  package var addsAccount = false
  package var deletesAccount = false
  /// Replace those with the same keys.
  package var rows: [HubRow] = []
  package var forgottenKeys: [[UInt8]] = []
  /// A new mark: the newest one.
  package var mark: HubMark?
  /// New vectors. They replace those up to the number `read`, and the oldest beyond
  /// `HubVectors.most` and `bytes`, without the new ones: that may log a conflict that is none.
  package var vectors: (new: HubVectors, read: Int64, bytes: Int64)?
  package var replica: HubReplica?
  /// Replaces the device with the same number, or adds one.
  package var device: HubDevice?
  /// The number of a device that is forgotten.
  package var forgottenDevice: Int64?
  /// Replaces the one before.
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
