// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  /// An error of a server, or of the connection to it.
  package struct PostgresError: Error {
    /// The SQLSTATE; nil if the connection is lost.
    let state: String?
    /// One line from libpq or the server, without passwords or values.
    let message: String
    /// Whether the server did not answer in time.
    let isTimeout: Bool

    init(state: String? = nil, message: String, isTimeout: Bool = false) {
      (self.state, self.isTimeout) = (state, isTimeout)
      self.message = message.trimmingCharacters(in: .newlines)
    }

    /// Whether the connection cannot be used any more: it is lost, the server ends (57P), or it has
    /// become a standby (25006), so that another server accepts the writes now.
    var endsConnection: Bool {
      guard let state else { return true }
      return state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006"
        || state.hasPrefix("53")
    }

    /// Whether a retry of the transaction may succeed: it was in conflict with another one, or both
    /// added the same row (23505).
    var isConflict: Bool { ["40001", "40P01", "23505"].contains(state) }

    /// The store's error: `unavailable` for failures that pass (connections, resources, locks,
    /// timeouts, a full disk), otherwise `broken`.
    func storeError(_ name: String) -> HubStoreError {
      guard let state else { return .unavailable("\(name): \(message)") }
      let passing = ["08", "25", "40", "53", "55", "57", "58030"]
      if passing.contains(where: state.hasPrefix) {
        return .unavailable("\(name): \(message) (\(state))")
      }
      let cure =
        switch state {
        case "42501": "; let the hub's user own the database, or its schema"
        case "42P01", "42703": "; its tables are not as a hub has made them"
        default: ""
        }
      return .broken("\(name): \(message) (\(state))\(cure)")
    }
  }
#endif
