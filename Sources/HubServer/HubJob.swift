// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Work for a store, with its result type erased, and the state of its execution.
// Sendable: only the thread that has taken it from the queue uses it.
package final class HubJob: @unchecked Sendable {
  package let query: HubQuery
  package let fastPush: HubFastPush?
  /// When the store abandons the work.
  package let deadline: Date
  /// Whether `end` was called.
  package private(set) var isDone = false
  /// The change that the rule returned when it ran last.
  package private(set) var change: HubChange?
  private let rule: (HubState) -> HubChange?
  /// Stores the result of a push that was accepted without the rule.
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

  /// Runs the rule, and stores its result for `end`. The rule runs again if its transaction was
  /// rolled back.
  package func decide(_ state: HubState) { change = rule(state) }

  /// Passes the result on, once everything is committed, or an error.
  package func end(_ error: (any Error)? = nil) {
    isDone = true
    finish(error)
  }
}
