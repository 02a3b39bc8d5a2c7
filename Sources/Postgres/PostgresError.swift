// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer

  /// What a server, or the way to it, failed with.
  struct PostgresError: Error {
    /// Nil when the connection is lost.
    var state: String?
    /// Without the password.
    var message: String

    static func lost(_ message: String) -> PostgresError { PostgresError(message: message) }

    /// Whether the connection is of no use any more: it is lost, the server ends (57P), or it has
    /// become a standby (25006), so that another server takes the writes now.
    var endsConnection: Bool {
      guard let state else { return true }
      return state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006"
        || state.hasPrefix("53")
    }

    /// Whether the same transaction may pass when it runs again: it was one of several that do
    /// not go together.
    var isConflict: Bool { ["40001", "40P01"].contains(state) }

    /// For those who asked: whether it passes with time (connections, resources, locks, limits of
    /// time, a disk that is full), or is to be looked at.
    func told(_ name: String) -> HubDatabaseError {
      let text = "\(name): \(message)"
      let passing = ["08", "25", "40", "53", "55", "57", "58030"]
      guard let state else { return .unavailable(text) }
      return passing.contains(where: state.hasPrefix)
        ? .unavailable("\(text) (\(state))") : .broken("\(text) (\(state))")
    }
  }
#endif
