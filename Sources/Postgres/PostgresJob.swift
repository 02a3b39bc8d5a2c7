// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  /// Work that waits for a connection, whatever its result is.
  // Sendable: one thread at a time has it.
  final class PostgresJob: @unchecked Sendable {
    let query: HubQuery
    let deadline: Date
    /// Runs the rule: what is to be changed. The job keeps its result for `end`.
    private(set) var decide: (HubState) -> HubChange? = { _ in nil }
    /// Calls back with the rule's result, once that is committed.
    private(set) var end: () -> Void = {}
    let fail: (any Error) -> Void
    let fastPush: HubFastPush?
    /// Sets the result of a push that was taken without the rule.
    private(set) var take: (HubMark) -> Void = { _ in }
    /// Whether it was called back.
    var isDone = false
    /// What the last run of the rule changes.
    var change: HubChange?
    /// Set if it is not known whether the change was committed.
    var failed: HubStoreError?

    init<Result: Sendable>(
      _ work: HubWork<Result>, deadline: Date,
      _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
      (query, self.deadline, fastPush) = (work.query, deadline, work.fastPush)
      fail = { done(.failure($0)) }
      var result: Swift.Result<Result, any Error>?
      decide = { state in
        do {
          let (value, change) = try work.rule(state)
          result = .success(value)
          return change
        } catch {
          result = .failure(error)
          return nil
        }
      }
      take = { mark in result = (work.fastResult?(mark)).map { .success($0) } }
      end = { [unowned self] in
        isDone = true
        if let failed { done(.failure(failed)) } else if let result { done(result) }
      }
    }
  }
#endif
