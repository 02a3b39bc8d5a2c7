// SPDX-License-Identifier: Apache-2.0

/// Where a hub keeps its accounts.
///
/// Work runs on threads of the database, each piece in a transaction of its own that is committed,
/// and safe from a power cut, before `done` is called, or undone where `work` throws. What `work`
/// and `done` do must not wait.
package protocol HubDatabase: Sendable {
  /// Names it in errors and logs: a path, or a host without a password.
  var name: String { get }

  /// Works on one account. Transactions of one account never overlap, whichever process of the hub
  /// they run in.
  ///
  /// - Parameter done: gets what `work` returned; a `HubDatabaseError` when there is no such
  ///   account, or the database fails; what `work` throws.
  func submit<Result: Sendable>(
    on account: Int64, _ work: @escaping @Sendable (any HubTables) throws -> Result,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void)

  /// Works on the directory.
  func submit<Result: Sendable>(
    _ work: @escaping @Sendable (any HubDirectory) throws -> Result,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void)

  /// Calls a function for each account that got rows, with its last sequence number, whichever
  /// process of the hub let them in. Calls may come late, twice or for no news, and one for many
  /// changes; none of a change is missed for good.
  func observe(_ onChange: @escaping @Sendable (_ account: Int64, _ seq: Int64) -> Void)

  /// Ends its threads and connections, after what was submitted.
  func close()
}

/// What a database of a hub fails with.
package enum HubDatabaseError: Error, Equatable {
  /// There is no such account any more.
  case noAccount
  /// It does not answer now, and may later: the disk is full, the server is gone.
  case unavailable(String)
  /// It will not, until somebody looks at it.
  case broken(String)
}

extension HubDatabase {
  package func onAccount<Result: Sendable>(
    _ account: Int64, _ work: @escaping @Sendable (any HubTables) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      submit(on: account, work) { continuation.resume(with: $0) }
    }
  }

  package func onDirectory<Result: Sendable>(
    _ work: @escaping @Sendable (any HubDirectory) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      submit(work) { continuation.resume(with: $0) }
    }
  }
}
