// SPDX-License-Identifier: Apache-2.0

#if Hub
  package import KeepsakeHubServer
  import KeepsakeValues

  /// The limits of a hub's server.
  package struct ServerLimits: Sendable {
    /// The limits of an account.
    package var account = HubLimits()
    package var requestsPerMinute = 300
    /// Requests of all devices without a token, or with one that the hub has not accepted yet.
    package var unknownPerMinute = 6_000
    /// Event streams and long polls of a device.
    package var streams = 5
    /// Bytes of a request's body.
    package var bodyBytes = 4 << 20
    /// Bytes of the body of a request about accounts and devices.
    package var objectBytes = 4 << 10
    /// Bytes of a request's head: its first line and its fields.
    package var headBytes = 16 << 10
    /// Bytes of the bodies of all requests and answers under way, then of those of one device. In
    /// memory a body takes up to four times its size.
    package var bytesInFlight = 256 << 20
    package var deviceBytesInFlight = 16 << 20
    /// Connections; others wait.
    package var connections = 4_096
    /// How long a connection may be without a request.
    package var idle = Duration.seconds(90)
    /// How long a body may take. The time starts anew with each KiB per second of it that arrives.
    package var bodyTimeout = Duration.seconds(30)
    /// How long an answer may wait for a device that does not read it.
    var readTimeout = Duration.seconds(300)
    /// How long requests under way may take when the hub ends.
    var shutdownTimeout = Duration.seconds(35)

    package init() {}

    /// The limits by their names in `GET /v1`, in errors, and in `kvsync hub serve --limit`.
    package static let named: [(name: String, path: any WritableKeyPath<Self, Int> & Sendable)] = [
      ("rows", \.account.rows), ("bytes", \.account.bytes), ("devices", \.account.devices),
      ("keyBytes", \.account.keyBytes), ("rowBytes", \.account.rowBytes),
      ("pageRows", \.account.pageRows), ("pageBytes", \.account.pageBytes),
      ("vectorBytes", \.account.vectorBytes), ("markBytes", \.account.markBytes),
      ("replicaBytes", \.account.replicaBytes), ("nameBytes", \.account.nameBytes),
      ("bodyBytes", \.bodyBytes), ("objectBytes", \.objectBytes), ("headBytes", \.headBytes),
      ("requestsPerMinute", \.requestsPerMinute), ("unknownPerMinute", \.unknownPerMinute),
      ("streams", \.streams), ("bytesInFlight", \.bytesInFlight),
      ("deviceBytesInFlight", \.deviceBytesInFlight), ("connections", \.connections),
    ]

    var json: JSON {
      .object(
        Self.named.map { JSON.Member($0.name, .integer(Int64(self[keyPath: $0.path]))) })
    }
  }
#endif
