// SPDX-License-Identifier: Apache-2.0

/// Work that waits for a store, whatever its result is.
// Sendable: a queue hands it to one thread, which alone uses it until it has ended.
package final class HubJob: @unchecked Sendable {
  package let query: HubQuery
  package let fastPush: HubFastPush?
  /// Runs the rule, keeps its result for `end`, and returns what is to be changed. It may run
  /// again if its transaction was rolled back.
  package let decide: (HubState) -> HubChange?
  /// Keeps the result of a push that was taken without the rule.
  package let take: (HubMark) -> Void
  /// Calls back with the result, once everything is committed.
  package let end: () -> Void
  package let fail: (any Error) -> Void

  package init<Result: Sendable>(
    _ work: HubWork<Result>,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    var result: Swift.Result<Result, any Error>?
    (query, fastPush) = (work.query, work.fastPush)
    decide = { state in
      do {
        let (value, change) = try work.rule(state)
        result = .success(value)
        return change
      } catch {
        // A rule that throws changes nothing.
        result = .failure(error)
        return nil
      }
    }
    take = { mark in result = (work.fastResult?(mark)).map { .success($0) } }
    end = { if let result { done(result) } }
    fail = { done(.failure($0)) }
  }
}
