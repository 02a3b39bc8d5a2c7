// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeepsakeDevice

/// The address of a hub: `https://host[:port][/prefix]`.
///
/// `http` is allowed only for this machine: on a network others could read the token.
public struct HubURL: Sendable, Hashable, CustomStringConvertible {
  /// The address, without a slash at its end.
  public let description: String

  /// - Throws: `KeepsakeError` with the code `invalidValue` if the text is no such address.
  public init(_ text: String) throws(KeepsakeError) {
    func refused(_ problem: String, _ cure: String) -> KeepsakeError {
      // The text may contain a password.
      let shown = text.contains("@") ? "(an address)" : String(text.prefix(200))
      return KeepsakeError(.invalidValue, path: shown, problem, cure: cure)
    }
    guard text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), let parts = URLComponents(string: text),
      let scheme = parts.scheme?.lowercased(), let host = parts.host?.lowercased(), !host.isEmpty
    else {
      throw refused("this is no address of a hub", "write it as https://hub.example")
    }
    guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
    else {
      throw refused(
        "an address of a hub has no user, password, query or fragment",
        "leave them out; kvsync hub join gets the token")
    }
    guard scheme == "https" || scheme == "http" && Self.isLoopback(host) else {
      throw refused(
        scheme == "http" ? "http would show the token to others" : "a hub speaks https",
        "write https://; http is for localhost, 127.0.0.1 and [::1]")
    }
    if let port = parts.port, !(1...65_535).contains(port) {
      throw refused("there is no port \(port)", "use a port from 1 to 65535")
    }
    let path = parts.percentEncodedPath.split(separator: "/").map { "/" + $0 }.joined()
    guard !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
      throw refused("the path of a hub goes down alone", "leave out . and ..")
    }
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    description = "\(scheme)://\(name)\(parts.port.map { ":\($0)" } ?? "")\(path)"
  }

  private static func isLoopback(_ host: String) -> Bool {
    var address = in_addr()
    if inet_pton(AF_INET, host, &address) == 1 {
      return UInt32(bigEndian: address.s_addr) >> 24 == 127
    }
    return ["localhost", "::1", "[::1]"].contains(host)
  }

  /// - Parameter path: below `/v1`, with a slash before it, or empty.
  func endpoint(_ path: String) throws(KeepsakeError) -> URL {
    guard let url = URL(string: "\(description)/v1\(path)") else {
      throw KeepsakeError(
        .invalidValue, path: description, "this is no address of a hub",
        cure: "write it as https://hub.example")
    }
    return url
  }
}
