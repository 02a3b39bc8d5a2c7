// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  /// What a server, or the way to it, failed with.
  package struct PostgresError: Error {
    /// Nil when the connection is lost.
    let state: String?
    /// One line from libpq or the server, without passwords or values.
    let message: String
    /// Whether the server did not answer in time.
    let isSilence: Bool

    init(state: String? = nil, message: String, isSilence: Bool = false) {
      (self.state, self.isSilence) = (state, isSilence)
      self.message = message.trimmingCharacters(in: .newlines)
    }

    /// Whether the connection is of no use any more: it is lost, the server ends (57P), or it has
    /// become a standby (25006), so that another server takes the writes now.
    var endsConnection: Bool {
      guard let state else { return true }
      return state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006"
        || state.hasPrefix("53")
    }

    /// Whether the same transaction may pass when it runs again: others were in its way, or have
    /// added the same row (23505).
    var isConflict: Bool { ["40001", "40P01", "23505"].contains(state) }

    /// The store's error: `unavailable` for what passes with time (connections, resources, locks,
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
