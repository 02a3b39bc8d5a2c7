// SPDX-License-Identifier: Apache-2.0
//
// libcurl, beneath Foundation for Linux, asks the environment for a proxy, and no configuration of
// a session keeps it from that. A hub on this machine is spoken to without TLS, so a proxy would
// read the token and every value: such a request is not made.

package import Foundation

package enum HubProxy {
  /// The variable by which a request to a hub on this machine would go to a proxy.
  ///
  /// It reads the variables as libcurl does
  /// (https://curl.se/libcurl/c/CURLOPT_PROXY.html, CURLOPT_NOPROXY.html), but takes a host for an
  /// exception only if `no_proxy` has it whole.
  ///
  /// - Returns: nil for addresses with TLS, which a proxy only passes on.
  package static func variable(
    before url: URL, in environment: [String: String]
  ) -> String? {
    guard url.scheme == "http", let host = url.host else { return nil }
    func value(_ name: String) -> String? {
      environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
    guard let name = ["http_proxy", "all_proxy", "ALL_PROXY"].first(where: { value($0) != nil })
    else { return nil }
    let exceptions = value("no_proxy") ?? value("NO_PROXY") ?? ""
    let isExcepted =
      exceptions == "*"
      || exceptions.split(whereSeparator: { $0 == "," || $0.isWhitespace }).contains {
        $0.lowercased() == host.trimmingCharacters(in: ["[", "]"])
      }
    return isExcepted ? nil : name
  }
}
