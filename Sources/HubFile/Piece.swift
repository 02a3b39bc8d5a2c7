// SPDX-License-Identifier: Apache-2.0

import KeepsakeHubServer
import KeepsakeStorage

/// Work that waits for the file, whatever its result is.
struct Piece: Sendable {
  struct Outcome {
    /// Calls back; once everything is committed.
    let end: () -> Void
    /// An account that has a new mark.
    var account: Int64?
    var newest: HubMark?
  }

  let run: @Sendable (Connection) throws -> Outcome
  let fail: @Sendable (any Error) -> Void

  init<Result: Sendable>(
    _ work: HubWork<Result>,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    run = { connection in
      let transaction = FileTransaction(connection: connection)
      let state = try transaction.state(for: work.query)
      switch Swift.Result(catching: { try work.rule(state) }) {
      case .success((let result, let change)):
        if let change { try transaction.apply(change, to: work.query.account) }
        return Outcome(
          end: { done(.success(result)) }, account: work.query.account, newest: change?.mark)
      // A rule that throws has changed nothing.
      case .failure(let refusal): return Outcome(end: { done(.failure(refusal)) })
      }
    }
    fail = { done(.failure(HubStoreError.of($0))) }
  }
}

extension HubStoreError {
  /// The file's errors as the store's; those of a rule as they are.
  fileprivate static func of(_ error: any Error) -> any Error {
    guard let error = error as? KeepsakeError else { return error }
    return switch error.code {
    case .diskFull, .locked, .inputOutput, .permissionDenied:
      HubStoreError.unavailable(error.description)
    default: HubStoreError.broken(error.description)
    }
  }
}
