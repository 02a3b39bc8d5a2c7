// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Work that waits for a store, whatever its result is, and what became of it so far.
// Sendable: a queue hands it to one thread, which alone uses it until it has ended.
package final class HubJob: @unchecked Sendable {
  package let query: HubQuery
  package let fastPush: HubFastPush?
  /// When its store gives up.
  package let deadline: Date
  /// Whether it was called back.
  package private(set) var isDone = false
  /// The change that the rule made when it ran last.
  package private(set) var change: HubChange?
  private let rule: (HubState) -> HubChange?
  /// Keeps the result of a push that was taken without the rule.
  package let take: (HubPushed) -> Void
  private let finish: ((any Error)?) -> Void

  package init<Result: Sendable>(
    _ work: HubWork<Result>, deadline: Date = .distantFuture,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    var result: Swift.Result<Result, any Error>?
    (query, fastPush, self.deadline) = (work.query, work.fastPush, deadline)
    rule = { state in
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
    take = { pushed in result = (work.fastResult?(pushed)).map { .success($0) } }
    finish = { error in if let final = error.map({ .failure($0) }) ?? result { done(final) } }
  }

  /// Runs the rule, and keeps its result for `end`. It may run again if its transaction was rolled
  /// back.
  package func decide(_ state: HubState) { change = rule(state) }

  /// Calls back with the result, once everything is committed, or with an error.
  package func end(_ error: (any Error)? = nil) {
    isDone = true
    finish(error)
  }
}
