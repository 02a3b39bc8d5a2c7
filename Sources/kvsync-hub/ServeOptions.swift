// SPDX-License-Identifier: Apache-2.0
//
// What an operator sets of a hub, beside where it keeps accounts.

import ArgumentParser

#if Hub
  import KeepsakeHubHTTP
#endif

/// What devices may take of a hub.
struct LimitOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Rows that an account may have.", valueName: "count"))
  var maxRows: Int?
  @Option(help: ArgumentHelp("Bytes of the keys and values of an account.", valueName: "count"))
  var maxBytes: Int?
  @Option(help: ArgumentHelp("Devices that an account may have.", valueName: "count"))
  var maxDevices: Int?
  @Option(help: ArgumentHelp("Requests of a device within a minute.", valueName: "count"))
  var maxRequests: Int?
  @Option(help: ArgumentHelp("Event streams of a device at one time.", valueName: "count"))
  var maxStreams: Int?
  @Option(help: ArgumentHelp("Connections at one time; others wait.", valueName: "count"))
  var maxConnections: Int?

  func validate() throws {
    for (name, value) in [
      ("max-rows", maxRows), ("max-bytes", maxBytes), ("max-devices", maxDevices),
      ("max-requests", maxRequests), ("max-streams", maxStreams),
      ("max-connections", maxConnections),
    ] {
      guard value.map({ (1...1_000_000_000).contains($0) }) ?? true else {
        throw ValidationError("--\(name) takes a number from 1 to 1000000000")
      }
    }
  }

  #if Hub
    func apply(to limits: inout ServerLimits) {
      limits.account.rows = maxRows ?? limits.account.rows
      limits.account.bytes = maxBytes ?? limits.account.bytes
      limits.devices = maxDevices ?? limits.devices
      limits.requestsPerMinute = maxRequests ?? limits.requestsPerMinute
      limits.burst = min(
        limits.requestsPerMinute, max(limits.burst, limits.requestsPerMinute / 3))
      limits.streams = maxStreams ?? limits.streams
      limits.connections = maxConnections ?? limits.connections
    }
  #endif
}

/// `HOST:PORT` on the command line.
struct ListenAddress: ExpressibleByArgument, CustomStringConvertible {
  let host: String
  let port: Int

  /// - Returns: nil where there is no host, or no port.
  init?(argument: String) {
    let colon = argument.lastIndex(of: ":")
    guard let colon, colon != argument.startIndex,
      let port = UInt16(argument[colon...].dropFirst())
    else { return nil }
    host = String(argument[..<colon].drop { $0 == "[" }.prefix { $0 != "]" })
    self.port = Int(port)
  }

  init(_ host: String, _ port: Int) { (self.host, self.port) = (host, port) }

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
  var defaultValueDescription: String { description }
}
