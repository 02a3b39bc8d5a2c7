// SPDX-License-Identifier: Apache-2.0

/// The way to hubs that the system gives.
enum SystemTransport {
  static func make() -> any HubTransport {
    #if os(Linux)
      if let transport = CurlTransport() { return transport }
    #endif
    return URLSessionTransport()
  }
}
