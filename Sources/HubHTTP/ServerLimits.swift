// SPDX-License-Identifier: Apache-2.0

#if Hub
  package import KeepsakeHubServer
  import KeepsakeValues

  /// What a hub takes of its devices; `GET /v1` tells it.
  package struct ServerLimits: Sendable {
    /// Of an account.
    package var account = HubLimits()
    package var devices = 64
    package var requestsPerMinute = 300
    /// Requests that may come at once: a first merge of as many rows as an account may have takes
    /// one for each page.
    package var burst = 120
    /// Event streams and long polls of a device; one more ends its oldest.
    package var streams = 4
    package let pageRows = 1_000
    let pageBytes = 1 << 20
    /// Of a request's body.
    let bodyBytes = 4 << 20
    /// Connections; who comes then waits.
    package var connections = 4_096
    /// How long a connection may be without a request.
    package var idle = Duration.seconds(90)
    /// How long the rest of a request may take that is answered already.
    package var linger = Duration.seconds(10)
    /// How long an answer may wait for one who does not read it.
    package var patience = Duration.seconds(300)
    /// How long requests under way may take when the hub ends.
    package var ending = Duration.seconds(35)

    package init() {}

    var json: JSON {
      .object(
        [
          ("keyBytes", account.keyBytes), ("valueBytes", account.valueBytes),
          ("rows", account.rows), ("bytes", account.bytes),
          ("devices", devices), ("stores", account.stores), ("origins", account.origins),
          ("revocations", account.revocations), ("held", account.held),
          ("pageRows", pageRows), ("pageBytes", pageBytes),
          ("requestsPerMinute", requestsPerMinute), ("streams", streams),
        ].map { JSON.Member($0.0, .integer(Int64($0.1))) })
    }
  }
#endif
