// SPDX-License-Identifier: Apache-2.0
//
// Limits and addresses of a hub on the command line.

import ArgumentParser

#if Hub
  import KeepsakeHubHTTP
#endif

/// The option that sets the limits of a hub.
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

    /// Maximum values: devices read no more rows of an account, and no larger pages; PostgreSQL's
    /// index allows no longer keys.
    private static let most = [
      "rows": 1_000_000, "pageRows": 10_000, "pageBytes": 8 << 20, "keyBytes": 2_700,
    ]

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
        guard count <= Self.most[found.name] ?? .max else {
          throw ValidationError("--limit \(found.name) takes at most \(Self.most[found.name] ?? 0)")
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

  /// - Returns: nil if there is no host, or no port.
  init?(argument: String) {
    let colon = argument.lastIndex(of: ":")
    guard let colon, colon != argument.startIndex,
      let port = UInt16(argument[colon...].dropFirst())
    else { return nil }
    host = String(argument[..<colon].drop { $0 == "[" }.prefix { $0 != "]" })
    // The system would resolve it to one of the machine's addresses.
    if host == "*" { return nil }
    self.port = Int(port)
  }

  init(_ host: String, _ port: Int) { (self.host, self.port) = (host, port) }

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
