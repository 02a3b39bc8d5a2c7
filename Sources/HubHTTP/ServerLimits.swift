// SPDX-License-Identifier: Apache-2.0

#if Hub
  package import KeepsakeHubServer
  import KeepsakeValues

  /// What a hub takes of its devices; `GET /v1` tells it.
  package struct ServerLimits: Sendable {
    /// Of an account.
    package var account = HubLimits()
    package var devices = 64
    package var requestsPerMinute = 60
    /// Requests that may come at once.
    package var burst = 20
    /// Event streams of a device.
    package var streams = 4
    let pageRows = 1_000
    let pageBytes = 1 << 20
    /// Of a request's body.
    let bodyBytes = 4 << 20

    package init() {}

    var json: JSON {
      .object(
        [
          ("keyBytes", account.keyBytes), ("valueBytes", account.valueBytes),
          ("devices", devices), ("stores", account.stores), ("origins", account.origins),
          ("revocations", account.revocations), ("held", account.held),
          ("pageRows", pageRows), ("pageBytes", pageBytes),
          ("requestsPerMinute", requestsPerMinute), ("streams", streams),
        ].map { JSON.Member($0.0, .integer(Int64($0.1))) })
    }
  }
#endif
