// SPDX-License-Identifier: Apache-2.0

import KeepsakeHubServer
import KeepsakeStorage

/// Work that was submitted, whatever it results in.
struct Piece: Sendable {
  /// What is to be said of it once all is committed.
  struct Outcome {
    let tell: () -> Void
    /// The account that got rows, with its last sequence number.
    var news: (account: Int64, seq: Int64)?
  }

  let run: @Sendable (Connection) throws -> Outcome
  let fail: @Sendable (any Error) -> Void

  /// - Parameter work: returns its result, and which account got rows.
  init<Result: Sendable>(
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void,
    _ work: @escaping @Sendable (Connection) throws -> (Result, (account: Int64, seq: Int64)?)
  ) {
    run = { connection in
      let (result, news) = try work(connection)
      return Outcome(tell: { done(.success(result)) }, news: news)
    }
    fail = { done(.failure(HubDatabaseError.of($0))) }
  }
}

extension HubDatabaseError {
  /// What fails in the file in a hub's words; what the work throws is its own.
  fileprivate static func of(_ error: any Error) -> any Error {
    guard let error = error as? KeepsakeError else { return error }
    return switch error.code {
    case .diskFull, .locked, .inputOutput, .permissionDenied:
      HubDatabaseError.unavailable(error.description)
    default: HubDatabaseError.broken(error.description)
    }
  }
}
