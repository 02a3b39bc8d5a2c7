// SPDX-License-Identifier: Apache-2.0
//
// What an operator sets of a hub, beside where it keeps accounts.

import ArgumentParser

#if Hub
  import KeepsakeHubHTTP
#endif

/// What devices may take of a hub.
struct LimitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A limit, as in rows=200000 (repeatable). GET /v1 lists all names and values.",
      valueName: "name=count"))
  var limit: [String] = []

  #if Hub
    func validate() throws {
      var limits = ServerLimits()
      try apply(to: &limits)
    }

    func apply(to limits: inout ServerLimits) throws {
      for word in limit {
        let sides = word.split(separator: "=", maxSplits: 1).map(String.init)
        guard sides.count == 2, let count = Int(sides[1]), (1...1 << 40).contains(count),
          let found = ServerLimits.named.first(where: { $0.name == sides[0] })
        else {
          throw ValidationError(
            "--limit takes NAME=COUNT, not \(word); the names are "
              + ServerLimits.named.map(\.name).joined(separator: ", "))
        }
        guard found.name != "rows" || count <= 1_000_000 else {
          throw ValidationError("--limit rows takes at most 1000000: no device reads more")
        }
        limits[keyPath: found.path] = count
      }
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
    // The system would take it for one of the machine's addresses.
    if host == "*" { return nil }
    self.port = Int(port)
  }

  init(_ host: String, _ port: Int) { (self.host, self.port) = (host, port) }

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
  var defaultValueDescription: String { description }
}
