// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeValues

  /// What a hub takes of its devices; `GET /v1` tells it.
  package struct HubLimits: Sendable {
    package var devices = 64
    package var requestsPerMinute = 60
    /// Requests that may come at once.
    package var burst = 20
    /// Event streams of a device.
    package var streams = 4
    let keyBytes = 1_024
    let valueBytes = 1 << 20
    let pageRows = 1_000
    let pageBytes = 1 << 20
    /// Of a request's body.
    let bodyBytes = 4 << 20

    package init() {}

    var json: JSON {
      .object(
        [
          ("keyBytes", keyBytes), ("valueBytes", valueBytes), ("devices", devices),
          ("pageRows", pageRows), ("pageBytes", pageBytes),
          ("requestsPerMinute", requestsPerMinute), ("streams", streams),
        ].map { JSON.Member($0.0, .integer(Int64($0.1))) })
    }
  }
#endif
